// What makes the pages quicker for those who have a script. Every page works without.
import { refresh } from "./refresh.js";
import { shortcuts } from "./shortcuts.js";

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

export function say(text) {
  document.getElementById("said").textContent = text;
}

// Times in the zone and the words of who reads them.
export function localTimes(within = document) {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  // A line may end between the date and the time, and nowhere else.
  const words = (at) => format.formatToParts(at).map((part, i, all) =>
    part.type === "literal" && all[i + 1]?.type === "hour" ? part.value : part.value.replace(/ /g, "\u00a0")).join("");
  for (const t of within.querySelectorAll("time[datetime]")) {
    if (t.title) continue;
    t.title = t.textContent;
    t.textContent = words(new Date(t.dateTime));
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

// A form is sent once, however often its button is pressed. Downloads and forms that come back by
// the browser's history work again.
function sendOnce() {
  document.addEventListener("submit", (e) => {
    const form = e.target;
    if (form.method !== "post") return;
    if (form.dataset.sent) { e.preventDefault(); return; }
    form.dataset.sent = "1";
    form.setAttribute("aria-busy", "true");
  });
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) {
      delete form.dataset.sent;
      form.removeAttribute("aria-busy");
    }
  });
}

followLink();
fillInvitation();
localTimes();
copyButtons();
sendOnce();
refresh(say, localTimes);
shortcuts(say);
