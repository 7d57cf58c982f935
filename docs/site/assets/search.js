// Searches the passages of index.js: BM25 over their texts and headings.
"use strict";

const usual = new Set(("a an and are as at be by can do does for from how i in is it of on or that the this to was what when " +
  "where which who why with").split(" "));
const stem = (word) => {
  const short = word.replace(/ies$/, "y").replace(/(?:ations?|ions?|ings?|ures?|ed|es|s|e)$/, "");
  return short.length > 2 ? short : word;
};
const split = (text) => (text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) || []).filter((word) => !usual.has(word)).map(stem);

// makeSearch prepares passages once; what it gives answers a question with the best of them.
function makeSearch(passages) {
  const terms = new Map(); // a term's weight in each passage that has it
  const lengths = passages.map((passage, i) => {
    const words = split(passage.text);
    const add = (word, weight) => {
      if (!terms.has(word)) terms.set(word, new Map());
      const at = terms.get(word);
      at.set(i, (at.get(i) || 0) + weight);
    };
    for (const word of words) add(word, 1);
    for (const word of split(passage.heading)) add(word, 5);
    for (const word of split(passage.page)) add(word, 3);
    return words.length;
  });
  const mean = lengths.reduce((sum, n) => sum + n, 0) / passages.length;
  return (question) => {
    const asked = [...new Set(split(question))];
    const scores = new Map();
    for (const word of asked) {
      const best = new Map(); // a word that begins with what was typed counts half
      for (const [term, at] of terms) {
        if (term !== word && !(word.length > 2 && term.startsWith(word))) continue;
        const rare = Math.log(1 + (passages.length - at.size + 0.5) / (at.size + 0.5)) * (term === word ? 1 : 0.5);
        for (const [i, n] of at) {
          const score = rare * n * 2.2 / (n + 1.2 * (0.25 + 0.75 * lengths[i] / mean));
          best.set(i, Math.max(best.get(i) || 0, score));
        }
      }
      for (const [i, score] of best) scores.set(i, (scores.get(i) || 0) + score);
    }
    return [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 20).map(([i]) => ({ ...passages[i], words: asked }));
  };
}

// excerpt is the part of a text around the first of some words, as nodes that mark them.
function excerpt(text, words) {
  const all = words.length ? new RegExp("(?<![\\p{L}\\p{N}_])(?:" + words.join("|") + ")", "giu") : /$^/g;
  const first = Math.max(0, text.search(all) - 80);
  const from = first && text.indexOf(" ", first) + 1;
  const part = text.slice(from, from + 280);
  const out = document.createElement("p");
  let at = 0;
  for (const hit of part.matchAll(all)) {
    out.append(part.slice(at, hit.index));
    out.append(Object.assign(document.createElement("mark"), { textContent: hit[0] }));
    at = hit.index + hit[0].length;
  }
  out.append(part.slice(at), from + 280 < text.length ? " …" : "");
  return out;
}

if (typeof document !== "undefined") {
  const search = makeSearch(passages);
  const form = document.getElementById("search");
  const show = () => {
    const question = form.q.value.trim();
    const hits = question ? search(question) : [];
    document.getElementById("said").textContent = question && `${hits.length || "No"} ${hits.length === 1 ? "passage" : "passages"}`;
    document.getElementById("found").replaceChildren(...hits.map((hit) => {
      const item = document.createElement("li");
      const link = Object.assign(document.createElement("a"), { href: hit.link, textContent: hit.heading });
      const where = Object.assign(document.createElement("span"), { className: "soft", textContent: hit.page });
      item.append(link, ...(hit.page === hit.heading ? [] : [" · ", where]), excerpt(hit.text, hit.words));
      return item;
    }));
  };
  form.q.value = new URLSearchParams(location.search).get("q") || "";
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    history.replaceState(null, "", "?" + new URLSearchParams({ q: form.q.value }));
    show();
  });
  show();
}
