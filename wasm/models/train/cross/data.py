"""Training groups out of the sets under a folder, and pairs as tensors.

Everything is a function of (seed, step): resuming a run needs no other state.
"""

import gzip
import json
import math
import random
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor


@dataclass(frozen=True)
class Quota:
    """What an epoch draws of a set: pairs of one kind (None: of any)."""

    name: str
    pairs: int
    kind: str | None = None


# Many sets with few pairs each rather than one large one; dialog in full, since nothing else looks like a memory;
# description last, since its passage is related and not always an answer.
MIXTURE = (
    Quota("friendsqa", 2281),
    Quota("clapnq", 1500),
    Quota("fairytaleqa", 800),
    Quota("medquad", 600),
    Quota("pubmedqa", 400),
    Quota("2wiki-titles", 400),
    Quota("docs-sections", 900, "faq"),
    Quota("docs-sections", 500, "heading"),
    Quota("docs-sections", 200, "description"),
)


def read_jsonl(path: Path) -> Iterator[dict]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


class BM25:
    """Okapi BM25 (k1 1.2, b .75) over word-level postings."""

    def __init__(self, texts: list[str]):
        postings: dict[str, list[tuple[int, int]]] = {}
        counts = [Counter(words(text)) for text in texts]
        for i, count in enumerate(counts):
            for word, n in count.items():
                postings.setdefault(word, []).append((i, n))
        length = np.array([sum(c.values()) for c in counts], np.float32)
        norm = 1.2 * (0.25 + 0.75 * length / max(float(length.mean()), 1.0))
        self.size = len(texts)
        self.postings: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for word, hits in postings.items():
            if len(hits) * 5 > self.size > 100:
                continue  # in a fifth of all passages: it tells nothing and costs most
            at, n = np.array(hits).T
            idf = math.log(1 + (self.size - len(hits) + 0.5) / (len(hits) + 0.5))
            self.postings[word] = (at, (idf * 2.2 * n / (n + norm[at])).astype(np.float32))

    def top(self, query: str, k: int) -> list[int]:
        """At most k passages that share a word with the query, best first."""
        scores = np.zeros(self.size, np.float32)
        for word in set(words(query)):
            if word in self.postings:
                at, weight = self.postings[word]
                scores[at] += weight
        k = min(k, self.size)
        best = np.argpartition(-scores, k - 1)[:k]
        best = best[np.argsort(-scores[best], kind="stable")]
        return [int(i) for i in best if scores[i] > 0]


def words(text: str) -> list[str]:
    """Lower-case words without their plural s."""
    return [w[:-1] if len(w) > 3 and w.endswith("s") else w for w in re.findall(r"\w+", text.lower())]


@dataclass(frozen=True)
class Pair:
    query: str
    positive: int  # place in the corpus


class TrainingSet:
    """A corpus and its pairs; hard negatives come from the positive's group
    (other scenes of the story, other sections of the page) and from BM25."""

    def __init__(self, folder: Path, longest: int):
        """longest is in characters: a passage that the window would cut may
        lose what makes it the answer, so longer ones are left out."""
        documents = [d for d in read_jsonl(folder / "corpus.jsonl.gz") if len(d["text"]) <= longest]
        place = {d["id"]: i for i, d in enumerate(documents)}
        self.texts = ["\n".join(t for t in (d.get("title"), d["text"]) if t) for d in documents]
        self.group = [d.get("meta", {}).get("group") for d in documents]
        self.members: dict[str, list[int]] = {}
        for i, group in enumerate(self.group):
            if group is not None:
                self.members.setdefault(group, []).append(i)
        self.pairs: dict[str | None, list[Pair]] = {None: []}
        self.positives: dict[str, set[int]] = {}
        for row in read_jsonl(folder / "pairs.jsonl.gz"):
            if row["positive_id"] not in place:
                continue
            pair = Pair(row["query"], place[row["positive_id"]])
            self.pairs[None].append(pair)
            if "kind" in row:
                self.pairs.setdefault(row["kind"], []).append(pair)
            self.positives.setdefault(pair.query, set()).add(pair.positive)
        self.index = BM25(self.texts)

    def negatives(self, pair: Pair, count: int, rng: random.Random) -> list[int]:
        """count passages that do not answer: up to half of them of the group,
        the others of BM25's first 30, chance ones where these run out. BM25's
        first is left out where it beats the positive in a set whose corpus
        repeats itself: it is often an answer that nobody marked."""
        known = self.positives[pair.query]
        fresh = [i for i in self.index.top(pair.query, 30) if i not in known]
        group = [i for i in self.members.get(self.group[pair.positive] or "", []) if i not in known]
        chosen = rng.sample(group, min(len(group), count // 2))
        rest = [i for i in fresh if i not in chosen]
        chosen += rng.sample(rest, min(len(rest), count - len(chosen)))
        while len(chosen) < count:
            if (i := rng.randrange(len(self.texts))) not in known and i not in chosen:
                chosen.append(i)
        return chosen


@dataclass(frozen=True)
class Group:
    """A query and its passages, the positive first."""

    query: str
    texts: list[str]


class Sampler:
    """Endless batches of groups. An epoch draws each quota again; groups of like
    length share a batch, since padding is computed in vain."""

    def __init__(self, root: Path, mixture: tuple[Quota, ...], batch: int, negatives: int, seed: int, longest: int):
        self.batch, self.negative_count, self.seed = batch, negatives, seed
        self.sets = {name: TrainingSet(root / name, longest) for name in dict.fromkeys(q.name for q in mixture)}
        self.epochs: dict[int, list[list[tuple[str, Pair]]]] = {}
        self.mixture = mixture
        self.steps_per_epoch = len(self._epoch(0))

    def _epoch(self, epoch: int) -> list[list[tuple[str, Pair]]]:
        if epoch not in self.epochs:
            rng = random.Random(f"{self.seed} epoch {epoch}")
            drawn: list[tuple[str, Pair]] = []
            for quota in self.mixture:
                fit = [p for p in self.sets[quota.name].pairs[quota.kind] if not held_out(p.query)]
                drawn += [(quota.name, p) for p in rng.sample(fit, min(quota.pairs, len(fit)))]
            self.epochs = {epoch: self._batches(drawn, rng)}
        return self.epochs[epoch]

    def _batches(self, drawn: list[tuple[str, Pair]], rng: random.Random) -> list[list[tuple[str, Pair]]]:
        rng.shuffle(drawn)
        batches = []
        pool = 16 * self.batch
        for start in range(0, len(drawn), pool):
            part = sorted(drawn[start : start + pool], key=lambda d: len(self.sets[d[0]].texts[d[1].positive]))
            part = [part[i : i + self.batch] for i in range(0, len(part), self.batch)]
            rng.shuffle(part)
            batches += part
        return batches

    def step(self, step: int) -> list[Group]:
        """The groups of a step, always the same for the same seed."""
        epoch, at = divmod(step, self.steps_per_epoch)
        rng = random.Random(f"{self.seed} step {step}")
        return [self._group(name, pair, rng) for name, pair in self._epoch(epoch)[at]]

    def _group(self, name: str, pair: Pair, rng: random.Random) -> Group:
        source = self.sets[name]
        chosen = [pair.positive, *source.negatives(pair, self.negative_count, rng)]
        return Group(pair.query, [source.texts[i] for i in chosen])

    def held_out(self, count: int) -> list[Group]:
        """Groups of queries that no step draws, spread over the mixture."""
        rng = random.Random(f"{self.seed} held out")
        total = sum(q.pairs for q in self.mixture)
        groups = []
        for quota in self.mixture:
            kept = [p for p in self.sets[quota.name].pairs[quota.kind] if held_out(p.query)]
            take = min(len(kept), math.ceil(count * quota.pairs / total))
            groups += [self._group(quota.name, p, rng) for p in rng.sample(kept, take)]
        return groups


def held_out(query: str) -> bool:
    """One query in 25, by its bytes."""
    return zlib.crc32(query.encode()) % 25 == 0


@dataclass(frozen=True)
class Pairs:
    """Tokenised pairs, all [pairs, length]; see CrossEncoder.forward."""

    ids: Tensor
    types: Tensor
    query: Tensor
    text: Tensor

    def to(self, device: torch.device) -> "Pairs":
        return Pairs(*(t.to(device) for t in (self.ids, self.types, self.query, self.text)))


class Pairing:
    """Tokenises pairs as the engine does: [CLS] query [SEP] text [SEP]; the
    query keeps at most half of the window, the text what is left."""

    def __init__(self, tokenizer: Path, window: int):
        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.cls, self.sep = (self.tokenizer.token_to_id(t) for t in ("[CLS]", "[SEP]"))
        self.window = window

    def __call__(self, pairs: list[tuple[str, str]]) -> Pairs:
        flat = [text for pair in pairs for text in pair]
        ids = [e.ids for e in self.tokenizer.encode_batch(flat, add_special_tokens=False)]
        rows = []
        for query, text in zip(ids[::2], ids[1::2], strict=True):
            query = query[: self.window // 2]
            rows.append((query, text[: self.window - 3 - len(query)]))
        length = max(len(q) + len(t) + 3 for q, t in rows)
        out = [torch.zeros(len(rows), length, dtype=kind) for kind in (torch.long, torch.long, torch.bool, torch.bool)]
        for i, (query, text) in enumerate(rows):
            row = torch.tensor([self.cls, *query, self.sep, *text, self.sep])
            begin = len(query) + 2
            out[0][i, : len(row)] = row
            out[1][i, begin : len(row)] = 1
            out[2][i, 1 : begin - 1] = True
            out[3][i, begin : len(row) - 1] = True
        return Pairs(*out)
