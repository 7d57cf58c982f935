#!/usr/bin/env python3
"""A small model in Python, run by Mneme as a process of its own: it finds texts that
share words, parts of words, or concepts (concepts.txt). It embeds, makes sparse
vectors and reranks; keep what you need. Everything is yours to replace but the form
of Acme's methods, which mneme_sdk.Model describes.
"""

import functools
import hashlib
import pathlib
import re
from collections import Counter

import numpy as np

import mneme_sdk
from mneme_sdk import pb

DIM = 256  # of a vector
VOCABULARY = 65536  # sparse terms
WINDOW = 512  # words read of a text
LONGEST = 64  # bytes read of a word
PASSED_OVER = 0xFFFF

WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]+")
FOLDER = pathlib.Path(__file__).resolve().parent


def words(text):
    """Runs of ASCII letters and digits and of anything beyond ASCII, in lower case and without the s of a plural."""
    for match in WORD.finditer(text):
        word = match.group()[:LONGEST].lower()
        yield word[:-1] if len(word) > 3 and word.endswith(b"s") and not word.endswith(b"ss") else word


@functools.lru_cache(maxsize=1 << 16)
def fnv(kind, data):
    """FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/"""
    h = (2166136261 ^ kind[0]) * 16777619 & 0xFFFFFFFF
    for byte in data:
        h = (h ^ byte) * 16777619 & 0xFFFFFFFF
    return h


class Acme(mneme_sdk.Model):
    def __init__(self):
        # The digest is the model's identity: it covers whatever changes an answer.
        digest = hashlib.sha256()
        for part in ("model.py", "concepts.txt"):
            digest.update(hashlib.sha256((FOLDER / part).read_bytes()).digest())
        self.digest = "sha256:" + digest.hexdigest()
        self.concepts = {}
        lines = (FOLDER / "concepts.txt").read_bytes().split(b"\n")
        for number, line in enumerate((line for line in lines if line and not line.startswith(b"#")), 1):
            for word in words(line):
                self.concepts.setdefault(word, PASSED_OVER if line.startswith(b"-") else number)

    def info(self):
        return pb.ModelInfo(name="acme", version="1.0.0", digest=self.digest, licence="Apache-2.0", languages=["en"], counts_tokens=True, tasks=[
            pb.TaskInfo(task=pb.TASK_EMBEDDING, dim=DIM, max_tokens=WINDOW, normalized=True),
            pb.TaskInfo(task=pb.TASK_SPARSE, vocabulary=VOCABULARY, max_tokens=WINDOW),
            pb.TaskInfo(task=pb.TASK_RERANK, max_tokens=WINDOW),
        ])

    def read(self, text, limit, parts=False):
        """([(hash, weight)] of at most limit words, how many were read, whether there were more).

        Weights are multiples of a quarter, so that sums do not depend on their order.
        """
        every = list(words(text.encode()))
        read = every[:limit]
        told = any(self.concepts.get(w) != PASSED_OVER for w in read)
        found = []
        for word in read:
            concept = self.concepts.get(word)
            if concept == PASSED_OVER and told:
                continue
            found.append((fnv(b"w", word), 1.0))
            if concept == PASSED_OVER:  # a text of nothing else
                continue
            if concept:
                found.append((fnv(b"c", concept.to_bytes(2, "little")), 0.75))
            if parts:
                edged = b"#" + word + b"#"
                found.extend((fnv(b"t", edged[i:i + 3]), 0.25) for i in range(len(word)))
        return found, len(read), len(every) > limit

    def terms(self, found):
        """Weights by term: equal features summed up."""
        terms = Counter()
        for h, weight in found:
            terms[(h ^ h >> 16) % VOCABULARY] += weight
        return terms

    def embed(self, texts, query, gone):
        """Each feature adds to or takes from one dimension."""
        out, tokens = np.zeros((len(texts), DIM), np.float32), []
        for row, text in zip(out, texts):
            found, read, _ = self.read(text, WINDOW, parts=True)
            for h, weight in found:
                row[h % DIM] += -weight if h >> 31 else weight
            if not row.any():
                row[0] = 1  # no text is without a direction
            row /= np.sqrt(np.square(row).sum())
            tokens.append(read)
        return out, tokens

    def sparse(self, texts, query, gone):
        rows, tokens = [], []
        for text in texts:
            found, read, _ = self.read(text, WINDOW)
            terms = sorted(self.terms(found).items())
            rows.append(([term for term, _ in terms], [weight / (1 + weight) for _, weight in terms]))
            tokens.append(read)
        return rows, tokens

    def rerank(self, query, texts, gone):
        """The share of the query's terms that a text has, by weight."""
        found, asked, _ = self.read(query, WINDOW // 2)
        terms = self.terms(found)
        every = sum(terms.values())
        scores, truncated = [], 0
        for text in texts:
            found, _, cut = self.read(text, WINDOW - asked)
            has = self.terms(found)
            both = sum(weight for term, weight in terms.items() if term in has)
            scores.append(0.02 + 0.96 * both / every if every else 0.02)
            truncated += cut
        return scores, truncated

    def count_tokens(self, texts):
        return [sum(1 for _ in words(text.encode())) for text in texts]


if __name__ == "__main__":
    mneme_sdk.serve(Acme())
