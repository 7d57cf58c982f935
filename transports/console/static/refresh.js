// Keeps what runs up to date: an element with data-refresh is asked for again every so many
// seconds, as a fragment of its page, until the server no longer says so.

const policy = window.trustedTypes
  ? trustedTypes.createPolicy("mneme", { createHTML: (html) => html })
  : { createHTML: (html) => html };

// replace puts a fragment of the server's own in the place of an element, unless somebody is about
// to use what is in it.
function replace(old, html) {
  const holder = document.createElement("template");
  holder.innerHTML = policy.createHTML(html);
  const made = holder.content.firstElementChild;
  if (!made) return old;
  if (old.contains(document.activeElement) && document.activeElement !== old) return old;
  for (const now of made.querySelectorAll("details[id]")) {
    now.open = !!document.getElementById(now.id)?.open;
  }
  old.replaceWith(made);
  return made;
}

async function ask(id) {
  const address = new URL(location.href);
  address.hash = "";
  address.searchParams.set("part", id);
  const answer = await fetch(address, { headers: { Accept: "text/vnd.mneme.fragment+html" }, redirect: "manual" });
  if (answer.type === "opaqueredirect" || answer.status === 401) { location.reload(); return ""; }
  return answer.ok ? answer.text() : "";
}

// once is one look at an element. A state is announced when it changes, and not with each number.
async function once(id, say, localTimes) {
  const old = document.getElementById(id);
  const html = await ask(id).catch(() => ""); // the server may be away for a moment
  if (!html || !old.isConnected) return;
  const before = old.dataset.state;
  const made = replace(old, html);
  localTimes(made);
  if (made.dataset.state && made.dataset.state !== before) say(made.dataset.state);
}

export function refresh(say, localTimes) {
  for (const element of document.querySelectorAll("[data-refresh][id]")) {
    const id = element.id;
    const next = () => {
      const seconds = Number(document.getElementById(id)?.dataset.refresh);
      if (!seconds) return;
      setTimeout(async () => {
        if (!document.hidden) await once(id, say, localTimes);
        next();
      }, 1000 * seconds);
    };
    next();
  }
}
