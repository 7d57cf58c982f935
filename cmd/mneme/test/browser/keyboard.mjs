// Goes through what people do on the pages with the keyboard alone: no pointer, and the focus moves by Tab.
// Prints what it saw as one line of JSON.
//   node keyboard.mjs MODULES CHROMIUM LINK
import { start, fits, told } from "./browser.mjs";

const [modules, executablePath, link] = process.argv.slice(2);
const seen = { requests: [], complaints: [], overflow: [], unseen: [], said: {} };
const { browser, open } = await start(modules, executablePath, seen);
try {
  const page = await open({ viewport: { width: 1120, height: 720 } });
  const choosers = []; // heard from here on: a key may be quicker than a listener that comes with it
  page.on("filechooser", (chooser) => choosers.push(chooser));
  const { said, acts, note } = told(page);
  seen.said = said;
  const press = (key) => page.keyboard.press(key);
  // reach moves the focus on until it is at a control, which has to be seen then.
  const reach = async (locator, name) => {
    await locator.waitFor();
    let goal = await locator.elementHandle(); // found once: by role and name that takes long
    for (let i = 0; i < 400; i++) {
      await press("Tab");
      // What runs refreshes itself, and another element is in the place of the one that was found.
      if (!(await goal.evaluate((e) => e.isConnected))) goal = await locator.elementHandle();
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
  const send = async () => {
    await acts();
    await Promise.all([page.waitForEvent("load"), press("Enter")]);
    await fits(page, seen);
  };
  const use = async (role, name) => { await to(role, name); await send(); };
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
  // values are those of fields, which are no text of the page.
  const values = async (...ids) => (await Promise.all(ids.map((id) => page.locator(`#${id}`).inputValue()))).join(" ");

  await page.goto(link);
  await page.waitForURL(/\/console\/o\/[^/]+$/);

  await section("k", /\/keys$/);
  await fill("Name", "reader");
  await to("checkbox", "It may only read");
  await press("Space");
  await use("button", "Make the key");
  await note("key");

  await section("k", /\/keys$/);
  await use("link", "reader");
  await use("button", "Rotate the key");
  await note("rotated");
  await section("k", /\/keys$/);
  await use("link", "reader");
  await typeToGo("revoke", await page.locator("section[aria-labelledby=revoke] .typed").textContent());
  await note("revoked");

  await section("r", /\/organizations$/);
  await fill("Name", "zoo");
  await use("button", "Make it");
  await section("r", /\/organizations$/);
  await note("organization");
  await use("link", "zoo");
  await at("section[aria-labelledby=quotas] summary");
  await press("Enter");
  await at("#quota-documents");
  await page.keyboard.type("321");
  await send();
  await note("quotas");
  await typeToGo("delete", "zoo");
  await note("gone");

  await page.goto(link.replace(/\/console.*$/, "/console/o/default"));
  await section("b", /\/members$/);
  await fill("Address", "bob@example.com");
  await use("button", "Make an invitation");
  await note("invitation");
  await section("b", /\/members$/);
  await use("link", "bob@example.com");
  await use("button", "Disable");
  await note("disabled");
  await typeToGo("remove", "bob@example.com");
  await note("memberGone");

  await section("i", /\/integrations$/);
  await use("link", "assistant");
  await fill("Memories of an end user", "500");
  await fill("Memories written a minute", "30");
  await use("button", "Save");
  await page.reload();
  await note("integrationQuotas", await values("change-memories", "change-writes"));

  await section("w", /\/webhooks$/);
  await fill("Address", "http://127.0.0.1:9/other");
  await use("button", "Make the webhook");
  await note("webhook");
  await section("w", /\/webhooks$/);
  await at("main tbody a");
  await send();
  await typeToGo("delete", "127.0.0.1:9");
  await note("webhookGone", page.url());

  await section("s", /\/sources$/);
  await use("link", "House papers");
  const folder = await page.locator("dt:text-is('path') + dd").textContent();
  await use("button", "Sync now");
  await note("source");
  await section("s", /\/sources$/);
  await use("link", "Connect a source");
  await at("a.card[href$='/directory']");
  await send();
  await fill("Name", "By hand");
  await fill("Namespace", "typed");
  await at("[name='config.path']");
  await page.keyboard.type(folder);
  await use("button", "Check, and write nothing");
  await note("checked");
  await use("button", "Connect");
  await note("connected");
  await to("radio", "Keep in typed");
  await press("Space");
  await typeToGo("disconnect", "By hand");
  await note("disconnected");

  await section("n", /\/n$/);
  await use("link", "handbook");
  await press("/");
  await page.keyboard.type("when does the lease end");
  await Promise.all([page.waitForURL(/\/query\?/), press("Enter")]);
  await use("link", "Save this query");
  await fill("Name", "by-keyboard");
  await use("button", "Save");
  await use("button", "Run all");
  await note("saved");
  await use("link", "by-keyboard");
  await use("button", "Delete by-keyboard");
  await note("unsaved");
  await section("n", /\/n$/);
  await use("link", "handbook");
  await use("link", "lease");
  await note("document");

  await section("n", /\/n$/);
  await fill("Name", "spare");
  await use("button", "Make it, and upload files");
  await at("#file");
  await Promise.all([page.waitForEvent("filechooser"), press("Space")]);
  await choosers.pop().setFiles([{ name: "oven.txt", mimeType: "text/plain", buffer: Buffer.from("The oven bakes at 180 degrees.") },
    { name: "fridge.txt", mimeType: "text/plain", buffer: Buffer.from("The fridge cools to 5 degrees.") }]);
  await use("button", "Send the files");
  await note("uploaded");
  await use("link", "oven.txt");
  await typeToGo("delete", "oven.txt");
  await section("n", /\/n$/);
  await use("link", "spare");
  await note("documentGone");
  await typeToGo("delete", "spare");
  await note("namespaceGone");

  await section("u", /\/users$/);
  await use("link", "ann@example.com");
  await fill("Search as this end user", "how does she travel");
  await use("button", "Search");
  await note("found", await page.locator("section[aria-labelledby=found]").textContent());
  await section("u", /\/users$/);
  await use("link", "ann@example.com");
  const forgotten = page.locator("li", { hasText: "Ann is afraid of geese." });
  await reach(forgotten.locator("summary", { hasText: "Delete this memory" }), "the deletion of a memory");
  await press("Enter");
  await reach(forgotten.getByRole("button", { name: "Delete it for good" }), "the button that deletes a memory");
  await send();
  await note("forgotten");
  await typeToGo("erase", "ann@example.com");
  await note("erased");

  await use("button", "Sign out");
  await note("out", page.url());
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
