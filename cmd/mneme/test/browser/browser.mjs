// What the scripts beside it share: a browser that is up within its time, and pages that note what
// goes wrong with them.
import { createRequire } from "node:module";

// patience is how long a page may take for what is waited for, in milliseconds: a machine may be busy.
export const patience = 300_000;

// launch starts a browser.
export const launch = (modules, executablePath) => createRequire(modules + "/")("playwright-core").chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

// start starts a browser; seen is where its pages note requests, complaints and what is too wide.
export const start = async (modules, executablePath, seen) => {
  const browser = await launch(modules, executablePath);
  const open = async (options) => {
    const context = await browser.newContext({ viewport: { width: 320, height: 800 }, reducedMotion: "reduce", ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    page.on("request", (r) => seen.requests.push(r.url()));
    page.on("console", (m) => m.type() === "error" && seen.complaints.push(`${page.url()}: ${m.text()}`));
    page.on("pageerror", (e) => seen.complaints.push(`${page.url()}: ${e}`));
    await page.addInitScript(() => document.addEventListener("securitypolicyviolation", (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`)));
    return page;
  };
  return { browser, open };
};

// fits notes a page that scrolls sideways.
export const fits = async (page, seen) => {
  if (await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)) seen.overflow.push(`${page.viewportSize().width} px: ${page.url()}`);
};

// told notes what pages say: note keeps what stands on a page and what stood on the one before the last act,
// so that a test can tell that the act has made the difference. The calls that a page shows repeat what was
// sent, and are left out.
export const told = (page) => {
  const said = {};
  let before = "";
  const main = async () => (await page.locator("main").evaluate((e) => {
    const copy = e.cloneNode(true);
    for (const calls of copy.querySelectorAll(".calls")) calls.remove();
    return copy.textContent;
  })).replace(/\s+/g, " ");
  return {
    said,
    acts: async () => { before = await page.locator("main").count() ? await main() : ""; },
    // Something else than the text of the page was not there before.
    note: async (what, after) => { said[what] = after === undefined ? { before, after: await main() } : { before: "", after }; },
  };
};
