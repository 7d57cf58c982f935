// Signs in at a provider of another site, looks at what is stored with markup in it, and tries what
// another site could: a form and a frame. Prints what it saw as one line of JSON.
//   node security.mjs MODULES CHROMIUM BASE STRANGER
import { launch, patience } from "./browser.mjs";

const [modules, executablePath, base, stranger] = process.argv.slice(2);
const browser = await launch(modules, executablePath);
const seen = { in: "", foot: "", forged: "", framed: "", after: "", cookie: "", dialogs: [], violations: [], missing: [], cookies: [] };
try {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  page.on("dialog", (d) => { seen.dialogs.push(`${page.url()}: ${d.message()}`); d.dismiss(); });
  page.on("console", (m) => /Content Security Policy|TrustedHTML/.test(m.text()) && seen.violations.push(m.text()));
  const members = `${base}/console/o/default/members`;
  await page.goto(members);
  await page.getByRole("link", { name: "Sign in with Staff login" }).click();
  await page.getByRole("button", { name: "Continue" }).click(); // the provider's page
  await page.waitForURL(members);
  seen.in = page.url();
  seen.foot = await page.locator("footer").textContent();
  seen.cookies = (await context.cookies()).filter((c) => c.value);
  seen.cookie = await page.evaluate(() => document.cookie);

  for (const at of ["n/notes", "n/notes/documents/evil", "n/notes/query?q=lease", "audit", "events", "users?query=%3Cscript%3Ealert(4)%3C/script%3E"]) {
    await page.goto(`${base}/console/o/default/${at}`);
    if (/documents\/evil|query\?/.test(at) && !(await page.locator("main").textContent()).includes("<script>alert(2)</script>")) seen.missing.push(at);
    if (await page.locator("main script, main img[onerror], a[href^='javascript:']").count()) seen.missing.push(`${at}: markup`);
  }

  await page.goto(stranger);
  await page.getByRole("button", { name: "Win" }).click();
  seen.forged = await page.locator("main").textContent();
  await page.goto(members);
  seen.after = page.url();
  const framed = await context.newPage();
  await framed.goto(`${stranger}/frame`);
  seen.framed = (await Promise.all(framed.frames().slice(1).map((f) => f.locator("h1").allTextContents()))).flat().join(" ");
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
