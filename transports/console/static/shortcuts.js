// Keys: / to the search field, g and a letter to a section, ? for help, Ctrl K for a palette. Single
// letters can be switched off, and never act inside of fields.

const off = "mneme-shortcuts=off";
const isOn = () => !document.cookie.split("; ").includes(off);

function inField(e) {
  return e.target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
}

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function sections() {
  return [...document.querySelectorAll(".menu a[data-letter]")];
}

// dialogOf makes a dialog that closes by Escape, its button and a click beside it.
function dialogOf(title, ...children) {
  const close = element("button", { type: "button", className: "quiet", textContent: "Close" });
  const heading = element("h2", { textContent: title, id: "dialog-title" });
  const dialog = element("dialog", {}, element("div", { className: "dialog-head" }, heading, close), ...children);
  dialog.setAttribute("aria-labelledby", "dialog-title");
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (e) => { if (e.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

function help(say) {
  const rows = [["/", "the search field"], ["Ctrl K", "go anywhere"], ["?", "this help"],
    ...sections().map((a) => [`g ${a.dataset.letter}`, a.textContent])];
  const list = element("dl", { className: "keys" }, ...rows.map(([key, what]) => element("div", {},
    element("dt", {}, ...key.split(" ").map((k) => element("kbd", { textContent: k }))), element("dd", { textContent: what }))));
  const box = element("input", { type: "checkbox", id: "single-keys", checked: isOn() });
  box.addEventListener("change", () => {
    document.cookie = `${box.checked ? "mneme-shortcuts=on" : off}; path=/; max-age=31536000; samesite=strict`;
    say(box.checked ? "Single keys are on" : "Single keys are off");
  });
  dialogOf("Shortcuts", list, element("div", { className: "tick" }, box,
    element("label", { htmlFor: "single-keys", textContent: "Single keys work (Ctrl K always does)" })));
}

// palette goes anywhere: sections by name, and what the page links to.
function palette() {
  if (document.querySelector("dialog[open]")) return;
  const places = new Map();
  for (const a of [...sections(), ...document.querySelectorAll("main a[href]")]) {
    const name = a.textContent.trim().replace(/\s+/g, " ");
    if (name && a.origin === location.origin && !a.hasAttribute("download") && !places.has(a.href)) places.set(a.href, name);
  }
  const field = element("input", { type: "search", id: "palette", autocomplete: "off", placeholder: "a section, or something on this page" });
  const list = element("ul", { className: "palette", id: "palette-list" });
  field.setAttribute("aria-controls", "palette-list");
  const count = element("p", { className: "hidden" });
  count.setAttribute("role", "status");
  const dialog = dialogOf("Go to", element("label", { htmlFor: "palette", textContent: "Where" }), field, list, count);
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = [...places].filter(([, name]) => words.every((w) => name.toLowerCase().includes(w))).slice(0, 12);
    list.replaceChildren(...fits.map(([href, name]) => element("li", {}, element("a", { href, textContent: name.slice(0, 80) }))));
    count.textContent = fits.length === 1 ? "1 place" : `${fits.length} places`;
  };
  field.addEventListener("input", show);
  dialog.addEventListener("keydown", (e) => {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (e.key === "Enter" && document.activeElement === field && links[0]) { e.preventDefault(); links[0].click(); }
    if (e.key === "ArrowDown" && links[at + 1]) { e.preventDefault(); links[at + 1].focus(); }
    if (e.key === "ArrowUp") { e.preventDefault(); (links[at - 1] ?? field).focus(); }
  });
  show();
  field.focus();
}

function opener(say) {
  const tools = document.querySelector(".tools");
  if (!tools || !sections().length) return;
  const go = element("button", { type: "button", className: "quiet go", textContent: "Go to… " },
    element("kbd", { textContent: "Ctrl K" }));
  go.addEventListener("click", palette);
  tools.prepend(go);
  const keys = element("button", { type: "button", className: "quiet link", textContent: "Shortcuts" });
  keys.addEventListener("click", () => help(say));
  document.querySelector(".foot p")?.append(" · ", keys);
}

export function shortcuts(say) {
  opener(say);
  let afterG = 0;
  document.addEventListener("keydown", (e) => {
    if ((e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === "k") {
      if (!sections().length) return;
      e.preventDefault();
      palette();
      return;
    }
    if (e.ctrlKey || e.metaKey || e.altKey || inField(e) || !isOn() || document.querySelector("dialog[open]")) return;
    if (e.key === "/") {
      const field = document.querySelector("[role=search] input:not([type=hidden]), [role=search] textarea");
      if (field) { e.preventDefault(); field.focus(); }
    } else if (e.key === "?") {
      e.preventDefault();
      help(say);
    } else if (e.key === "g") {
      afterG = Date.now();
    } else if (Date.now() - afterG < 1500) {
      afterG = 0;
      sections().find((a) => a.dataset.letter === e.key)?.click();
    }
  });
}
