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
  // to moves the focus on until it is at a control with this role and name, which has to be seen then.
  const to = async (role, name) => {
    const goal = page.getByRole(role, { name, exact: true }).first();
    await goal.waitFor();
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
    throw new Error(`${page.url()}: Tab does not lead to the ${role} ${name}`);
  };
  const fill = async (name, text) => { await to("textbox", name); await page.keyboard.type(text); };
  const use = async (role, name) => {
    await to(role, name);
    const before = page.url();
    await Promise.all([page.waitForEvent("load"), press("Enter")]);
    await fits(page, seen);
    return before;
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

  await section("r", /\/organizations$/);
  await fill("Name", "zoo");
  await use("button", "Make it");
  await section("r", /\/organizations$/);
  seen.said.organization = await main();

  await page.goto(link.replace(/\/console.*$/, "/console/o/default"));
  await section("b", /\/members$/);
  await fill("Address", "bob@example.com");
  await use("button", "Make an invitation");
  seen.said.invitation = await main();

  await section("w", /\/webhooks$/);
  await fill("Address", "http://127.0.0.1:9/other");
  await use("button", "Make the webhook");
  seen.said.webhook = await main();

  await section("s", /\/sources$/);
  await use("link", "House papers");
  await use("button", "Sync now");
  seen.said.source = await main();

  await section("n", /\/n$/);
  await use("link", "handbook");
  await press("/");
  await page.keyboard.type("when does the lease end");
  await Promise.all([page.waitForURL(/\/query\?/), press("Enter")]);
  await use("link", "lease");
  seen.said.document = await main();

  await section("u", /\/users$/);
  await use("link", "ann@example.com");
  await fill("Search as this end user", "how does she travel");
  await use("button", "Search");
  seen.said.found = await main();
  const typed = page.locator("section[aria-labelledby=erase] input:not([type=hidden])").first();
  for (let i = 0; i < 400 && !(await typed.evaluate((e) => e === document.activeElement)); i++) await press("Tab");
  await page.keyboard.type("ann@example.com");
  await Promise.all([page.waitForEvent("load"), press("Enter")]);
  seen.said.erased = await main();

  await use("button", "Sign out");
  seen.said.out = page.url();
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
