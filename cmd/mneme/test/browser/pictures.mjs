// Takes the pictures of docs/console.md: what a window shows of a page. Prints what went wrong on
// the way as one line of JSON.
//   node pictures.mjs MODULES CHROMIUM LINK FOLDER
import { join } from "node:path";
import { start, fits } from "./browser.mjs";

const [modules, executablePath, link, folder] = process.argv.slice(2);
const seen = { requests: [], complaints: [], overflow: [] };
const { browser, open } = await start(modules, executablePath, seen);
const handbook = "/o/default/n/handbook";
const shots = [
  ["overview", "/o/default", "light"],
  ["query", `${handbook}/query?q=when+does+the+lease+end`, "light"],
  ["document", `${handbook}/documents/lease`, "dark"],
  ["check", `${handbook}/check?run=1`, "light"],
  ["webhooks", "/o/default/webhooks", "dark"],
  ["members", "/o/default/members", "light"],
  ["phone", "/o/default", "dark", { width: 390, height: 760 }],
];
try {
  const page = await open({ viewport: { width: 1120, height: 720 } });
  await page.goto(link);
  await page.waitForURL(/\/console\/o\/[^/]+$/);
  const below = page.url().replace(/\/o\/.*$/, "");
  for (const [name, path, colorScheme, size] of shots) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(size ?? { width: 1120, height: 720 });
    await page.goto(below + path);
    await fits(page, seen);
    await page.screenshot({ path: join(folder, `console-${name}.png`), animations: "disabled" });
  }
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
