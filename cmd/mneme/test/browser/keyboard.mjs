// Goes through what people do on the pages with the keyboard alone: no pointer, and the focus moves by Tab.
// Prints what it saw as one line of JSON.
//   node keyboard.mjs MODULES CHROMIUM LINK
import { start, fits } from "./browser.mjs";

const [modules, executablePath, link] = process.argv.slice(2);
const seen = { requests: [], complaints: [], overflow: [], unseen: [], said: {} };
const { browser, open } = await start(modules, executablePath, seen);
try {
  const page = await open({ viewport: { width: 1120, height: 720 } });
  const press = (key) => page.keyboard.press(key);
  // reach moves the focus on until it is at a control, which has to be seen then.
  const reach = async (locator, name) => {
    await locator.waitFor();
    const goal = await locator.elementHandle(); // found once: by role and name that takes long
    for (let i = 0; i < 400; i++) {
      await press("Tab");
      if (await goal.evaluate((e) => e === document.activeElement)) {
        const marked = await goal.evaluate((e) => {
          const s = getComputedStyle(e), b = e.getBoundingClientRect();
          return (s.outlineStyle !== "none" && s.outlineWidth !== "0px" || s.boxShadow !== "none") && b.bottom > 0 && b.top < innerHeight;
        });
        if (!marked) seen.unseen.push(`${page.url()}: ${name}`);
        return;
      }
    }
    throw new Error(`${page.url()}: Tab does not lead to ${name}`);
  };
  const to = (role, name) => reach(page.getByRole(role, { name, exact: true }).first(), `the ${role} ${name}`);
  const at = (css) => reach(page.locator(css).first(), css);
  const fill = async (name, text) => { await to("textbox", name); await page.keyboard.type(text); };
  const use = async (role, name) => {
    await to(role, name);
    const before = page.url();
    await Promise.all([page.waitForEvent("load"), press("Enter")]);
    await fits(page, seen);
    return before;
  };
  const send = async () => {
    await Promise.all([page.waitForEvent("load"), press("Enter")]);
    await fits(page, seen);
  };
  // typeToGo types what a form that cannot be undone asks for, and sends it.
  const typeToGo = async (part, text) => {
    await at(`section[aria-labelledby=${part}] input[name=typed]`);
    await page.keyboard.type(text);
    await send();
  };
  const section = async (letter, address) => {
    await press("g");
    await press(letter);
    await page.waitForURL(address);
    await page.waitForLoadState();
  };
  const main = async () => (await page.locator("main").textContent()).replace(/\s+/g, " ");

  await page.goto(link);
  await page.waitForURL(/\/console\/o\/[^/]+$/);

  await section("k", /\/keys$/);
  await fill("Name", "reader");
  await to("checkbox", "It may only read");
  await press("Space");
  await use("button", "Make the key");
  seen.said.key = await main();

  await section("k", /\/keys$/);
  await use("link", "reader");
  await use("button", "Rotate the key");
  seen.said.rotated = await main();
  await section("k", /\/keys$/);
  await use("link", "reader");
  await typeToGo("revoke", await page.locator("section[aria-labelledby=revoke] .typed").textContent());
  seen.said.revoked = await main();

  await section("r", /\/organizations$/);
  await fill("Name", "zoo");
  await use("button", "Make it");
  await section("r", /\/organizations$/);
  seen.said.organization = await main();
  await use("link", "zoo");
  await at("section[aria-labelledby=quotas] summary");
  await press("Enter");
  await at("#quota-documents");
  await page.keyboard.type("321");
  await send();
  seen.said.quotas = await main();
  await typeToGo("delete", "zoo");
  seen.said.gone = await main();

  await page.goto(link.replace(/\/console.*$/, "/console/o/default"));
  await section("b", /\/members$/);
  await fill("Address", "bob@example.com");
  await use("button", "Make an invitation");
  seen.said.invitation = await main();

  await section("w", /\/webhooks$/);
  await fill("Address", "http://127.0.0.1:9/other");
  await use("button", "Make the webhook");
  seen.said.webhook = await main();
  await section("w", /\/webhooks$/);
  await at("main tbody a");
  await send();
  await typeToGo("delete", "127.0.0.1:9");
  seen.said.webhookGone = page.url();

  await section("s", /\/sources$/);
  await use("link", "House papers");
  const folder = await page.locator("dt:text-is('path') + dd").textContent();
  await use("button", "Sync now");
  seen.said.source = await main();
  await section("s", /\/sources$/);
  await use("link", "Connect a source");
  await at("a.card[href$='/directory']");
  await send();
  await fill("Name", "By hand");
  await fill("Namespace", "typed");
  await at("[name='config.path']");
  await page.keyboard.type(folder);
  await use("button", "Check, and write nothing");
  seen.said.checked = await main();
  await use("button", "Connect");
  seen.said.connected = await main();
  await to("radio", "Keep in typed");
  await press("Space");
  await typeToGo("disconnect", "By hand");
  seen.said.disconnected = await main();

  await section("n", /\/n$/);
  await use("link", "handbook");
  await press("/");
  await page.keyboard.type("when does the lease end");
  await Promise.all([page.waitForURL(/\/query\?/), press("Enter")]);
  await use("link", "Save this query");
  await fill("Name", "by-keyboard");
  await use("button", "Save");
  await use("button", "Run all");
  seen.said.saved = await main();
  await use("link", "by-keyboard");
  await use("button", "Delete by-keyboard");
  seen.said.unsaved = await main();
  await section("n", /\/n$/);
  await use("link", "handbook");
  await use("link", "lease");
  seen.said.document = await main();

  await section("n", /\/n$/);
  await fill("Name", "spare");
  await use("button", "Make it, and upload files");
  await at("#file");
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), press("Space")]);
  await chooser.setFiles([{ name: "oven.txt", mimeType: "text/plain", buffer: Buffer.from("The oven bakes at 180 degrees.") },
    { name: "fridge.txt", mimeType: "text/plain", buffer: Buffer.from("The fridge cools to 5 degrees.") }]);
  await use("button", "Send the files");
  seen.said.uploaded = await main();
  await use("link", "oven.txt");
  await typeToGo("delete", "oven.txt");
  await section("n", /\/n$/);
  await use("link", "spare");
  seen.said.documentGone = await main();
  await typeToGo("delete", "spare");
  seen.said.namespaceGone = await main();

  await section("u", /\/users$/);
  await use("link", "ann@example.com");
  await fill("Search as this end user", "how does she travel");
  await use("button", "Search");
  seen.said.found = await main();
  await typeToGo("erase", "ann@example.com");
  seen.said.erased = await main();

  await use("button", "Sign out");
  seen.said.out = page.url();
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
