// Goes through what people do on the pages in a browser that runs no script. Prints what it saw as one line of JSON.
//   node plain.mjs MODULES CHROMIUM LINK
import { start, fits, told } from "./browser.mjs";

const [modules, executablePath, link] = process.argv.slice(2);
const seen = { requests: [], complaints: [], overflow: [], ran: 0, said: {} };
const { browser, open } = await start(modules, executablePath, seen);
try {
  const page = await open({ javaScriptEnabled: false });
  const { said, acts, note } = told(page);
  seen.said = said;
  const settle = async (act) => {
    await acts();
    await Promise.all([page.waitForEvent("load"), act()]);
    await fits(page, seen);
    // What scripts would have made: times in words, buttons that copy.
    seen.ran += await page.locator("time[title], figure.code button").count();
  };
  const use = (role, name) => settle(() => page.locator("main").getByRole(role, { name, exact: true }).first().click());
  const go = (path) => settle(() => page.goto(below + path));
  const fill = (name, text) => page.getByLabel(name, { exact: true }).first().fill(text);
  const typeToGo = async (part, text) => {
    const form = page.locator(`section[aria-labelledby=${part}] form`);
    await form.locator("input[name=typed]").fill(text);
    await settle(() => form.locator("button").click());
  };

  const at = new URL(link);
  const below = link.replace(/\/console.*$/, "/console");
  await page.goto(`${below}/sign-in`);
  await fill("Admin key, or code of a sign-in link", new URLSearchParams(at.hash.slice(1)).get("code"));
  await use("button", "Sign in");
  await note("signedIn", page.url());
  const o = "/o/default";

  await go(`${o}/n`);
  await fill("Name", "plain");
  await use("button", "Make it, and upload files");
  await page.locator("#file").setInputFiles(Array.from({ length: 60 }, (_, i) => ({ name: `room-${String(i).padStart(2, "0")}.txt`,
    mimeType: "text/plain", buffer: Buffer.from(i === 7 ? "The oven bakes at 180 degrees." : `Room ${i} has ${i + 1} windows.`) })));
  await use("button", "Send the files");
  await note("uploaded");

  await go(`${o}/n/plain`);
  await note("first");
  await use("link", "Next page");
  await note("next");
  await use("link", "First page");
  await note("again");
  await fill("Id begins with", "room-5");
  await use("button", "Show");
  await note("filtered");

  await fill("Ask this namespace", "how hot is the oven");
  await use("button", "Ask");
  await note("marked", (await page.locator(".hit").first().locator("mark").allTextContents()).join(" "));
  await use("link", "Two settings side by side");
  await note("sides");
  await use("link", "One setting alone");
  await use("link", "Save this query");
  await fill("Name", "oven");
  await use("button", "Save");
  await use("button", "Run all");
  await note("saved");
  await use("link", "oven");
  await use("button", "Delete oven");
  await note("unsaved");

  const document = `${o}/n/plain/documents/room-07.txt`;
  await go(document);
  await page.getByText("Edit the metadata").click();
  await fill("As a JSON object", `{"room": "kitchen"`);
  await use("button", "Save");
  await note("wrong");
  await fill("As a JSON object", `{"room": "kitchen"}`);
  await use("button", "Save");
  await note("metadata");
  await typeToGo("delete", "room-70.txt");
  await note("kept");
  await typeToGo("delete", "room-07.txt");
  await go(`${o}/n/plain`);
  await note("deleted");
  await typeToGo("delete", "plain");
  await note("namespaceGone");

  await go(`${o}/keys`);
  await fill("Name", "plain reader");
  await use("button", "Make the key");
  await note("key");
  await use("link", "I have it");
  await go(`${o}/sources`);
  await use("link", "House papers");
  await use("button", "Sync now");
  await note("synced");

  // On a narrow screen these are in the menu, which opens by itself.
  const menu = async (name) => {
    await page.getByRole("button", { name: "Menu" }).click();
    await settle(() => page.locator("#menu").getByRole("button", { name }).click());
  };
  await menu(/^Theme/);
  await note("theme", await page.locator("html").getAttribute("data-theme"));
  await menu("Sign out");
  await note("out", page.url());
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
