"""The first stage: BM25 and the embedder, fused as the server fuses them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .corpora import BM25, Pool
from .states import States

DEPTH = 100  # hits of a list that its statistics are taken over
VECTOR, KEYWORD = 2 / 3, 1 / 3


@dataclass
class Candidates:
    """The head of one query's fused list."""

    query: int
    texts: np.ndarray  # numbers of passages, [candidates]
    fused: np.ndarray  # fused score of each
    relevant: np.ndarray  # 1 or 0 of each
    forced: np.ndarray  # put in because retrieval missed it


def fuse(vector: np.ndarray, keyword: np.ndarray) -> np.ndarray:
    """Weighted sum of both lists' scores above their floor over their deviation."""
    fused = np.zeros(len(vector))
    depth = min(DEPTH, len(vector))
    head = np.argsort(-vector, kind="stable")[:depth]
    fused[head] += VECTOR * (vector[head] - vector[head[-1]]) / max(vector[head].std(), 1e-9)
    head = np.argsort(-keyword, kind="stable")[:depth]
    if keyword[head].any():
        fused[head] += KEYWORD * keyword[head] / keyword[head].std()
    return fused


def candidates(pool: Pool, queries: States, passages: States, depth: int, force: int = 2) -> list[Candidates]:
    """The first depth passages for each query; up to `force` missed answers take the last places."""
    bm25 = BM25(pool.passages)
    out = []
    for i, query in enumerate(pool.queries):
        fused = fuse(passages.vectors @ queries.vectors[i], bm25.scores(query))
        texts = np.argsort(-fused, kind="stable")[:depth]
        missed = sorted(pool.relevant[i] - set(texts.tolist()))[:force]
        texts = np.concatenate([texts[: len(texts) - len(missed)], missed]).astype(int)
        relevant = np.array([float(t in pool.relevant[i]) for t in texts])
        forced = np.arange(len(texts)) >= len(texts) - len(missed)
        out.append(Candidates(i, texts, fused[texts], relevant, forced))
    return out


def standardise(x: np.ndarray) -> np.ndarray:
    """Zero mean and unit deviation; zeros where all are equal."""
    deviation = x.std()
    return (x - x.mean()) / deviation if deviation > 1e-9 else np.zeros(len(x))
