// Opens the console like a person who has just started the program: follows the link, goes to
// the namespace, asks, reads why the hit is there, opens its document. Prints what it saw as one
// line of JSON.
//   node console.mjs MODULES CHROMIUM LINK NAMESPACE QUESTION
import { launch, patience } from "./browser.mjs";

const [modules, executablePath, link, namespace, question] = process.argv.slice(2);
const browser = await launch(modules, executablePath);
const seen = { requests: [], complaints: [], overflow: [], address: "", marks: [], lists: [], document: "", sections: [], palette: "", keys: 0, again: "", stored: 0, cookies: [] };
try {
  const context = await browser.newContext({ viewport: { width: 320, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  page.on("request", (r) => seen.requests.push(r.url()));
  page.on("console", (m) => m.type() === "error" && seen.complaints.push(m.text()));
  page.on("pageerror", (e) => seen.complaints.push(String(e)));
  await page.addInitScript(() => document.addEventListener("securitypolicyviolation", (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`)));
  const fits = async () => {
    if (await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)) seen.overflow.push(page.url());
  };

  await page.goto(link);
  await page.waitForURL(/\/console\/o\/[^/]+$/);
  seen.address = page.url();
  await fits();
  await page.locator("main").getByRole("link", { name: namespace }).first().click();
  await page.waitForURL(/\/n\/[^/]+$/);
  await fits();
  await page.keyboard.press("/"); // to the field for searching
  await page.keyboard.type(question);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/query\?/);
  await fits();
  seen.marks = await page.locator(".hit").first().locator("mark").allTextContents();
  seen.lists = await page.locator(".hit").first().locator(".lines tbody th").allTextContents();
  await page.locator(".hit h3 a").first().click();
  await page.waitForURL(/\/documents\//);
  await fits();
  seen.document = await page.locator(".chunks .text").first().textContent();
  for (const [letter, section] of Object.entries({ s: "sources", u: "users", e: "events", k: "keys", i: "integrations", j: "jobs",
    y: "usage", a: "audit", r: "organizations", m: "models", h: "health", t: "settings", n: "n", w: "webhooks", b: "members" })) {
    await page.keyboard.press("g");
    await page.keyboard.press(letter);
    await page.waitForURL(new RegExp(`/${section}$`));
    await fits();
    seen.sections.push(section);
  }
  await page.keyboard.press("Shift+?");
  seen.keys = await page.getByRole("dialog").locator("dt").count();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("overv");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/o\/[^/]+$/);
  seen.palette = page.url();
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "Keys" }).click();
  await page.waitForURL(/\/keys$/);
  seen.stored = await page.evaluate(() => localStorage.length + sessionStorage.length + document.cookie.length);
  seen.cookies = (await context.cookies()).map((c) => `${c.name} ${c.httpOnly} ${c.sameSite}`);

  const other = await (await browser.newContext()).newPage(); // the link is spent
  other.setDefaultTimeout(patience);
  await other.goto(link);
  seen.again = await other.getByRole("alert").textContent();
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
