// Joins by an invitation, by keyboard alone, and signs in again where no script runs. Prints what
// it saw as one line of JSON.
//   node members.mjs MODULES CHROMIUM LINK EMAIL PASSWORD
import { launch, patience } from "./browser.mjs";

const [modules, executablePath, link, email, password] = process.argv.slice(2);
const browser = await launch(modules, executablePath);
const seen = { requests: [], complaints: [], overflow: [], joined: "", foot: "", spent: "", plain: "" };
const open = async (options) => {
  const page = await (await browser.newContext({ viewport: { width: 320, height: 800 }, ...options })).newPage();
  page.setDefaultTimeout(patience);
  page.on("request", (r) => seen.requests.push(r.url()));
  page.on("console", (m) => m.type() === "error" && seen.complaints.push(m.text()));
  page.on("pageerror", (e) => seen.complaints.push(String(e)));
  return page;
};
const fits = async (page) => {
  if (await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)) seen.overflow.push(page.url());
};
try {
  const page = await open({});
  await page.goto(link);
  await page.waitForFunction(() => document.activeElement.id === "password"); // the code is filled in
  await fits(page);
  await page.keyboard.type(password);
  await page.keyboard.press("Tab");
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/console\/o\/[^/]+$/);
  seen.joined = page.url();
  seen.foot = await page.locator("footer").textContent();
  await page.goto(page.url() + "/members");
  await fits(page);

  const plain = await open({ javaScriptEnabled: false });
  await plain.goto(link);
  await plain.getByLabel("Code of the invitation").fill(new URL(link).hash.slice("#code=".length));
  await plain.getByLabel("Password", { exact: true }).fill(password);
  await plain.getByLabel("Password again").fill(password);
  await plain.getByRole("button", { name: "Join" }).click();
  seen.spent = await plain.getByRole("alert").textContent();
  await plain.goto(new URL("sign-in", link).href);
  await plain.getByLabel("Address").fill(email);
  await plain.getByLabel("Password", { exact: true }).fill(password);
  await plain.getByRole("button", { name: "Sign in as a member" }).click();
  await plain.waitForURL(/\/console\/o\/[^/]+$/);
  seen.plain = plain.url();
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
