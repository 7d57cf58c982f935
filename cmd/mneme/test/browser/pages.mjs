// Visits every page that links of the console lead to, and has axe look at each for WCAG 2.2 AA, at
// three widths, light and dark; with a folder, it takes pictures as well. Prints what it saw as one
// line of JSON.
//   node pages.mjs MODULES CHROMIUM LINK [PICTURES]
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { start, fits } from "./browser.mjs";

const [modules, executablePath, link, pictures] = process.argv.slice(2);
const seen = { requests: [], complaints: [], overflow: [], pages: [], running: [], violations: [], control: [], checks: 0 };
const { browser, open } = await start(modules, executablePath, seen);

const axe = readFileSync(join(modules, "node_modules", "axe-core", "axe.min.js"), "utf8");
const all = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"] };
// What stands in a page is the same at each width and in both themes; colours and places are not.
const rules = (...values) => ({ type: "rule", values });
const colours = rules("color-contrast", "link-in-text-block");
const places = rules("color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable");

// look has axe look at a page; evaluating goes past the page's policy, which forbids other scripts.
const look = async (page, what, runOnly = all) => {
  if (!(await page.evaluate("!!window.axe"))) await page.evaluate(axe);
  const found = await page.evaluate(async (runOnly) => {
    const { violations } = await axe.run(document, { runOnly, resultTypes: ["violations"], preload: false });
    return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 200)} (${n.failureSummary.replace(/\s+/g, " ").slice(0, 200)})`));
  }, runOnly);
  seen.checks++;
  seen.violations.push(...found.map((f) => `${what}: ${f}`));
};

const name = (address) => new URL(address).pathname.replace(/^.*\/console\/?/, "").replace(/[^a-z0-9-]+/gi, "_") + (new URL(address).search ? "_asked" : "");

// everyWay looks at a page at each width and in each theme.
const everyWay = async (page) => {
  await page.evaluate(() => document.querySelectorAll("main details").forEach((d) => { d.open = true; }));
  for (const width of [1440, 768, 320]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await fits(page, seen);
      await look(page, `${page.url()} at ${width} px, ${colorScheme}`, colorScheme === "dark" ? colours : width === 320 ? all : places);
      if (pictures) await page.screenshot({ path: join(pictures, `${name(page.url())}-${width}-${colorScheme}.png`), fullPage: true, animations: "disabled" });
    }
  }
};

// alike is what pages of one kind share, of which two are enough, or one where their kind shows the
// same of each namespace.
const alike = (path) => {
  const list = path.match(/^(.*\/(documents|keys|connect|runs|deliveries))\/[^/]+$/);
  if (list) return [list[1], 2];
  const part = path.match(/\/n\/[^/]+\/([a-z]+)$/);
  return part ? [part[1], 1] : [path, 1];
};

try {
  const outside = await open({});
  for (const way of ["sign-in", "invitation"]) {
    await outside.goto(link.replace(/\/console.*$/, `/console/${way}`));
    await everyWay(outside);
  }
  await outside.context().close();

  const page = await open({});
  await page.goto(link);
  await page.waitForURL(/\/console\/o\/[^/]+$/);
  const home = new URL(page.url());
  const below = home.pathname.replace(/\/o\/.*$/, "");
  const handbook = home.origin + below + "/o/default/n/handbook";
  const todo = [home.href, handbook, handbook + "/check", handbook + "/query", handbook + "/documents/lease", handbook + "/check?run=1",
    handbook + "/query?q=when+does+the+lease+end", handbook + "/query?q=lease&compare=1&b_mode=keyword", handbook + "/query?q=x&top_k=x",
    home.origin + below + "/o/default/none"];
  const done = new Set(), visited = {};
  while (todo.length > 0) {
    const at = todo.shift();
    const url = new URL(at);
    if (done.has(at)) continue;
    done.add(at);
    const [kind, enough] = alike(url.pathname);
    if (!url.search && (visited[kind] = (visited[kind] ?? 0) + 1) > enough) continue;
    const answer = await page.request.get(at, { maxRedirects: 0, failOnStatusCode: false });
    if (!(answer.headers()["content-type"] ?? "").startsWith("text/html")) continue;
    await page.goto(at);
    seen.pages.push(at.slice((home.origin + below).length));
    for (const link of await page.locator("a[href]").evaluateAll((all) => all.map((a) => a.href))) {
      const to = new URL(link);
      if (to.origin === home.origin && to.pathname.startsWith(below) && !to.search) todo.push(to.origin + to.pathname);
    }
    await everyWay(page);
    if (await page.locator("main [data-refresh]").count()) seen.running.push(at.slice((home.origin + below).length));
  }

  // What is known to be wrong is found, in both themes.
  await page.goto(home.href);
  await page.evaluate(() => {
    document.querySelector("main").append(document.createElement("img"));
    for (const colour of ["#f4f2ee", "#222426"]) {
      const faint = document.querySelector("main").appendChild(document.createElement("p"));
      faint.textContent = "This is hard to read.";
      faint.style.color = colour;
    }
  });
  const before = seen.violations.length;
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await look(page, colorScheme);
  }
  seen.control = seen.violations.splice(before).map((v) => v.split(": ").slice(0, 2).join(" "));

  // What opens above a page.
  await page.goto(home.href);
  await page.setViewportSize({ width: 320, height: 800 });
  await page.getByRole("button", { name: "Menu" }).click();
  await look(page, "the open menu");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Shift+?");
  await page.getByRole("dialog").waitFor();
  await look(page, "the keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  await look(page, "the palette");
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
