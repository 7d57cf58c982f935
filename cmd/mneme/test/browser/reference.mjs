// Opens the reference page like a person: reads it, enters a key, calls an
// operation. Prints what it saw as one line of JSON.
//   node reference.mjs MODULES CHROMIUM PAGE KEY PATH
import { launch, patience } from "./browser.mjs";

const [modules, executablePath, address, key, path] = process.argv.slice(2);
const browser = await launch(modules, executablePath);
const seen = { requests: [], complaints: [], operations: [], status: 0, called: "", sent: "", body: "" };
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(patience);
  page.on("request", (r) => seen.requests.push(r.url()));
  page.on("console", (m) => m.type() === "error" && seen.complaints.push(m.text()));
  page.on("pageerror", (e) => seen.complaints.push(String(e)));
  await page.addInitScript(() => document.addEventListener("securitypolicyviolation", (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`)));
  await page.goto(address);
  await page.waitForSelector(".opblock-tag");
  for (const tag of await page.$$(".opblock-tag")) await tag.click();
  await page.waitForFunction(() => document.querySelectorAll(".opblock-tag-section.is-open").length === document.querySelectorAll(".opblock-tag").length);
  seen.operations = await page.$$eval(".opblock .opblock-summary", (all) => all.map((e) => e.querySelector(".opblock-summary-method").textContent + " " + e.querySelector(".opblock-summary-path").getAttribute("data-path")));

  await page.click(".auth-wrapper .authorize");
  const field = page.locator(".auth-container", { hasText: "serviceKey" });
  await field.locator("input").fill(key);
  await field.locator("button.authorize").click();
  await page.click(".modal-ux .btn-done");

  const block = page.locator(".opblock-get", { has: page.locator(`[data-path="${path}"]`) });
  await block.locator(".opblock-summary-control").click();
  const answered = page.waitForResponse((r) => r.request().headers()["authorization"] !== undefined);
  await block.locator("button.execute").click();
  const answer = await answered;
  seen.called = answer.url();
  seen.status = answer.status();
  seen.sent = await answer.request().headerValue("authorization");
  await block.locator(".live-responses-table .response-col_status").first().waitFor();
  seen.body = await block.locator(".live-responses-table .highlight-code, .live-responses-table pre").first().textContent();
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
