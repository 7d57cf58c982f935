// What makes the pages quicker for those who have a script. Every page works without.

// A sign-in link carries its code behind the #, which no server and no log sees.
function followLink() {
  const form = document.getElementById("sign-in");
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (!form || !code) return;
  history.replaceState(null, "", location.pathname + location.search);
  form.elements.key.value = code;
  form.requestSubmit();
}

// The code of an invitation comes the same way. It waits for a password.
function fillInvitation() {
  const form = document.getElementById("invitation");
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (!form || !code) return;
  history.replaceState(null, "", location.pathname + location.search);
  form.elements.code.value = code;
  form.elements.password.focus();
}

function say(text) {
  document.getElementById("said").textContent = text;
}

// Times in the zone and the words of who reads them.
function localTimes() {
  const words = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  for (const t of document.querySelectorAll("time[datetime]")) {
    t.title = t.textContent;
    t.textContent = words.format(new Date(t.dateTime));
  }
}

function copyButtons() {
  if (!navigator.clipboard) return;
  for (const figure of document.querySelectorAll("figure.code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${figure.querySelector("figcaption").textContent}`);
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(figure.querySelector("pre").textContent);
      button.textContent = "Copied";
      say("Copied");
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    figure.append(button);
  }
}

// "/" goes to the first field for searching; it is a character inside of fields.
function shortcuts() {
  document.addEventListener("keydown", (e) => {
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.target.closest("input, textarea, select, [contenteditable]")) return;
    const field = document.querySelector("[role=search] input, [role=search] textarea");
    if (!field) return;
    e.preventDefault();
    field.focus();
  });
}

followLink();
fillInvitation();
localTimes();
copyButtons();
shortcuts();
