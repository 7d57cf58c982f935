"""Reads the training and evaluation sets and draws the candidate lists."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass
class Pool:
    """Queries of one set and the passages they are ranked over.

    relevant[i] holds the numbers of the passages that answer queries[i];
    group[i] the name of what passage i was cut from, "" for none.
    """

    name: str
    queries: list[str]
    passages: list[str]
    relevant: list[set[int]]
    group: list[str] = field(default_factory=list)


def rows(path: Path):
    """Yields the objects of a .jsonl.gz file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def passage_text(row: dict) -> str:
    """The text of a passage as it is indexed: the title on a line of its own."""
    title = row.get("title")
    return f"{title}\n{row['text']}" if title else row["text"]


_WORD = re.compile(r"[a-z0-9]+")
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by did do does for from had has have how i if in into is it its me my no not of on or s she "
        "so t that the their them then there these they this to was we were what when where which who why will with you your",
    )
)


def words(text: str) -> list[str]:
    """Lower-case words without stop words, with the commonest English endings cut."""
    out = []
    for word in _WORD.findall(text.lower()):
        if word in _STOP:
            continue
        for ending in ("ing", "ed", "es", "s"):
            if word.endswith(ending) and len(word) > len(ending) + 2:
                word = word[: -len(ending)]
                break
        out.append(word)
    return out


class BM25:
    """Okapi BM25 over a list of texts (Robertson and Zaragoza 2009), k1 0.9, b 0.65."""

    def __init__(self, texts: list[str], k1: float = 0.9, b: float = 0.65):
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = np.zeros(len(texts))
        for number, text in enumerate(texts):
            found = words(text)
            lengths[number] = len(found)
            for word, count in Counter(found).items():
                postings[word].append((number, count))
        norm = k1 * (1 - b + b * lengths / max(lengths.mean(), 1))
        self._count = len(texts)
        self._weights = {}
        for word, entries in postings.items():
            at, count = np.array(entries).T
            idf = math.log(1 + (len(texts) - len(at) + 0.5) / (len(at) + 0.5))
            self._weights[word] = (at, idf * count * (k1 + 1) / (count + norm[at]))

    def scores(self, query: str) -> np.ndarray:
        """The score of every text, 0 where no word is shared. Shape [texts]."""
        out = np.zeros(self._count)
        for word in words(query):
            if word in self._weights:
                at, weight = self._weights[word]
                out[at] += weight
        return out


def draw(root: Path, name: str, count: int, seed: int = 1, neighbours: int = 4, per_group: int = 3) -> Pool:
    """Draws queries of a training set and a pool of hard passages for them.

    The pool holds the queries' passages, the first `neighbours` passages by BM25
    over the whole set and up to `per_group` others of the positive's group, so
    that a list of candidates drawn from it is full of near misses.
    """
    rng = np.random.default_rng(seed)
    corpus = list(rows(root / name / "corpus.jsonl.gz"))
    number = {row["id"]: i for i, row in enumerate(corpus)}
    texts = [passage_text(row) for row in corpus]
    groups = [(row.get("meta") or {}).get("group") or "" for row in corpus]
    members = defaultdict(list)
    for i, group in enumerate(groups):
        if group:
            members[group].append(i)
    relevant: dict[str, set[int]] = defaultdict(set)
    kinds: dict[str, str] = {}
    for pair in rows(root / name / "pairs.jsonl.gz"):
        if pair.get("kind") == "description":  # related, not always an answer
            continue
        relevant[pair["query"]].add(number[pair["positive_id"]])
        kinds[pair["query"]] = pair.get("kind", "")
    queries = sorted(relevant)
    if name == "docs-sections":  # half questions; and no more than a fifth from one source
        queries = balance(queries, relevant, corpus, kinds, count, rng)
    else:
        queries = [queries[i] for i in rng.permutation(len(queries))[:count]]
    bm25 = BM25(texts)
    keep: dict[int, None] = {}
    for query in queries:
        positives = sorted(relevant[query])
        found = np.argsort(-bm25.scores(query), kind="stable")[:neighbours]
        same = [i for p in positives for i in members.get(groups[p], []) if i not in relevant[query]]
        same = [same[i] for i in rng.permutation(len(same))[:per_group]]
        for i in [*positives, *found.tolist(), *same]:
            keep[int(i)] = None
    at = {i: j for j, i in enumerate(keep)}
    return Pool(name, queries, [texts[i] for i in keep], [{at[i] for i in relevant[q]} for q in queries], [groups[i] for i in keep])


def balance(queries, relevant, corpus, kinds, count, rng):
    """Half the queries questions, and no more than a fifth of them from one source."""
    taken, by_source, by_kind = [], Counter(), Counter()
    for i in rng.permutation(len(queries)):
        query = queries[i]
        source = corpus[min(relevant[query])]["id"].split(":")[0].split("-")[0].split("/")[0]
        kind = "faq" if kinds[query] == "faq" else "other"
        if by_source[source] < count // 5 and by_kind[kind] < count // 2:
            taken.append(query)
            by_source[source] += 1
            by_kind[kind] += 1
        if len(taken) == count:
            break
    return taken


_RELATIONS = (  # words before a linked name, and what the name then is
    (r"direct(?:ed|ion) by(?: \w+)?$", "director", "film"),
    (r"(?:written|wrote|screenplay) (?:and \w+ )?by$", "writer", "work"),
    (r"produced (?:and \w+ )?by$", "producer", "work"),
    (r"starring$|stars$|featuring$", "star", "film"),
    (r"(?:performed|recorded|sung|released) by(?: [\w' ]+)?$|song by(?: [\w' ]+)?$", "performer", "song"),
    (r"(?:son|daughter|child) of(?: \w+)?$", "father", "person"),
    (r"(?:wife|husband|widow) of(?: \w+)?$|married(?: to)?(?: \w+)?$", "spouse", "person"),
    (r"(?:brother|sister|sibling) of(?: \w+)?$", "sibling", "person"),
    (r"band$|group$|member of(?: the)?(?: \w+)?$", "band", "artist"),
    (r"located in(?: the)?(?: \w+)?$|born (?:\w+ )?(?:in|at)$", "place", "subject"),
)
_ASKED_OF_PERSON = (
    "When was the {r} of {a} born?",
    "Where was the {r} of {a} born?",
    "What nationality is the {r} of {a}?",
    "What is the {r} of {a} best known for?",
    "Which award did the {r} of {a} receive?",
    "Where did {a}'s {r} die?",
    "Who is the mother of the {r} of {a}?",
    "What other position did the {r} of {a} hold?",
)
_ASKED_OF_TWO = (
    "Which was released first, {a} or {b}?",
    "Are {a} and {b} from the same country?",
    "Do {a} and {b} have the same occupation?",
    "Who was born earlier, {a} or {b}?",
    "Were {a} and {b} of the same nationality?",
    "What do {a} and {b} have in common?",
    "Are both {a} and {b} located in the same place?",
    "Which is older, {a} or {b}?",
    "Who died first, {a} or {b}?",
)


def two_hop(root: Path, count: int, seed: int = 2, neighbours: int = 6) -> Pool:
    """Makes questions that need two paragraphs of 2wiki-titles.

    Half compare two paragraphs of one kind by their titles. Half ask of a
    paragraph that another one names, by the words that stand before the name
    ("directed by" makes it the director), without the name itself.
    """
    rng = np.random.default_rng(seed)
    corpus = list(rows(root / "2wiki-titles" / "corpus.jsonl.gz"))
    texts = [passage_text(row) for row in corpus]
    number = {row["id"]: i for i, row in enumerate(corpus)}
    title = {}
    for pair in rows(root / "2wiki-titles" / "pairs.jsonl.gz"):
        title[number[pair["positive_id"]]] = re.sub(r"\s*\(.*\)", "", pair["query"])
    named = {name: i for i, name in title.items() if " " in name and len(name) > 5}
    starts = defaultdict(list)
    for name in named:
        starts[name.split()[0]].append(name)
    made: list[tuple[str, set[int]]] = []
    for i in rng.permutation(len(corpus)):
        i = int(i)
        text, own = corpus[i]["text"], title.get(i, "")
        if len(made) >= count // 2 or not own:
            continue
        for name in sorted({n for w in set(re.findall(r"\w+", text)) for n in starts.get(w, ()) if n in text and n != own}):
            before = text[: text.index(name)].rstrip()[-60:]
            relation = next(((r, kind) for pattern, r, kind in _RELATIONS if re.search(pattern, before)), None)
            if relation is None or named[name] == i:
                continue
            subject = f"the film {own}" if relation[1] == "film" and rng.random() < 0.5 else own
            made.append((_ASKED_OF_PERSON[rng.integers(len(_ASKED_OF_PERSON))].format(r=relation[0], a=subject), {i, named[name]}))
            break
    kinds = defaultdict(list)
    for i in title:
        head = corpus[i]["text"][:160]
        found = re.search(r"\b(film|album|song|politician|actor|actress|singer|footballer|writer|director|king|queen|village|district)\b", head)
        if found:
            kinds[found[1]].append(i)
    names = sorted(kinds)
    while len(made) < count:
        kind = names[rng.integers(len(names))]
        a, b = (int(x) for x in rng.choice(kinds[kind], 2, replace=False))
        made.append((_ASKED_OF_TWO[rng.integers(len(_ASKED_OF_TWO))].format(a=title[a], b=title[b]), {a, b}))
    bm25 = BM25(texts)
    keep: dict[int, None] = {}
    for query, positives in made:
        for i in [*sorted(positives), *np.argsort(-bm25.scores(query), kind="stable")[:neighbours].tolist()]:
            keep[int(i)] = None
    at = {i: j for j, i in enumerate(keep)}
    return Pool("two-hop", [q for q, _ in made], [texts[i] for i in keep], [{at[i] for i in p} for _, p in made])
