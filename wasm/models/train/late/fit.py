"""Fits the late-interaction reranker and writes its asset.

    python -m late.fit --model CHECKPOINT --out rerank-small.safetensors

Encodes what it needs once (--cache) and goes on from there after a stop; fitting
itself takes minutes on one core. The same seed, data and cache give the same file.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from tqdm import tqdm

from . import asset, corpora, retrieval
from .model import Adam, Pairs, Scorer, join, list_loss
from .states import Encoder, States, encode

LAYER = 8
WIDTH = 128
TOPIC_WIDTH = {False: 4, True: 64}  # unused unless every feature is fitted
DEPTH = 20
EPOCHS, BATCH = 3, 16
RATE = 5e-4
PULL = 0.1
POINTWISE = 1.0
PRIOR = 1.0
HELD_OUT = 7  # one query in so many is kept for calibration
SEED = 1

# How many queries each set gives; two-hop is made from 2wiki-titles (corpora.two_hop).
QUERIES = {"friendsqa": 700, "clapnq": 600, "two-hop": 300, "medquad": 200, "docs-sections": 300}


def arguments() -> argparse.Namespace:
    repository = Path(__file__).resolve().parents[4]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder with the embedder's model.onnx and tokenizer.json")
    parser.add_argument("--data", type=Path, default=repository / ".." / "shared" / "data" / "train", help="the training sets")
    parser.add_argument("--cache", type=Path, default=repository / ".cache" / "late", help="where encoded texts are kept")
    parser.add_argument("--out", type=Path, required=True, help="the asset to write")
    parser.add_argument("--layer", type=int, default=LAYER)
    parser.add_argument("--sets", nargs="+", default=list(QUERIES), choices=list(QUERIES))
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--width", type=int, default=WIDTH)
    parser.add_argument("--every-feature", action="store_true", help="fit the topic and length features too")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def pool_of(root: Path, name: str) -> corpora.Pool:
    """The pool of a set of QUERIES."""
    return corpora.two_hop(root, QUERIES[name]) if name == "two-hop" else corpora.draw(root, name, QUERIES[name])


class Lists:
    """The candidate lists of one set, as Pairs."""

    def __init__(self, name: str, found: list[retrieval.Candidates], queries: States, passages: States, mean: np.ndarray, term: np.ndarray):
        self.name, self.found = name, found
        self._queries, self._passages, self._mean, self._term = queries, passages, mean, term

    def pairs(self, i: int) -> Pairs:
        """Pairs of list i."""
        c = self.found[i]
        texts = [self._passages.states(t) - self._mean for t in c.texts]
        return join(self._queries.states(c.query) - self._mean, self._term[self._queries.ids(c.query)], texts)


def held_out(name: str, query: int) -> bool:
    """Whether a query is kept for calibration; no matter which sets are used."""
    return query % HELD_OUT == HELD_OUT - 1


def train(lists: list[Lists], scorer: Scorer, epochs: int, every_feature: bool) -> None:
    """Fits the scorer on the lists that are not held out.

    The softmax is over raw + PRIOR z, z the standardised fused score, so that the
    scorer learns what the first stage does not know; except where an answer was
    put into the list, whose fused score says nothing.
    """
    todo = [
        (group, i)
        for group in lists
        for i, c in enumerate(group.found)
        if c.relevant.any() and not c.relevant.all() and not held_out(group.name, c.query)
    ]
    rates = {"project": RATE, "gate": 4 * RATE, "c": 20 * RATE, "a": 200 * RATE, "bias": 200 * RATE}
    if every_feature:
        rates |= {"topic": RATE, "b": 200 * RATE, "l": 40 * RATE}
    adam = Adam(scorer.p, rates, epochs * (len(todo) // BATCH), PULL)
    rng = np.random.default_rng(SEED)
    for epoch in range(epochs):
        order = rng.permutation(len(todo))
        total = 0.0
        bar = tqdm(range(0, len(order) - BATCH + 1, BATCH), desc=f"epoch {epoch + 1}/{epochs}", unit=" batches")
        for done, at in enumerate(bar, 1):
            sums = {k: np.zeros_like(v) for k, v in scorer.p.items()}
            for j in order[at : at + BATCH]:
                group, i = todo[j]
                c = group.found[i]
                prior = 0.0 if c.forced.any() else PRIOR * retrieval.standardise(c.fused)
                value, gradient = scorer.gradient(group.pairs(i), list_loss(c.relevant, POINTWISE, prior))
                total += value
                for k in sums:
                    sums[k] += gradient[k] / BATCH
            adam.step(sums)
            bar.set_postfix(loss=f"{total / (done * BATCH):.4f}")


def logistic(raw: np.ndarray, relevant: np.ndarray, steps: int = 100) -> tuple[float, float]:
    """Platt scaling: scale and bias of sigmoid(scale raw + bias), by Newton's method."""
    x = np.stack([raw, np.ones(len(raw))], 1)
    w = np.array([0.0, np.log(relevant.mean() / (1 - relevant.mean()))])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-(x @ w)))
        change = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + 1e-6 * np.eye(2), x.T @ (relevant - p))
        w += np.clip(change, -1, 1)
        if np.abs(change).max() < 1e-8:
            break
    return float(w[0]), float(w[1])


def reliability(p: np.ndarray, relevant: np.ndarray, edges=(0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0001)) -> tuple[float, list]:
    """Expected calibration error and rows of (pairs, mean p, share relevant) by bin of p."""
    rows, error = [], 0.0
    for low, high in zip(edges, edges[1:], strict=False):
        inside = (p >= low) & (p < high)
        if inside.any():
            rows.append((int(inside.sum()), float(p[inside].mean()), float(relevant[inside].mean())))
            error += inside.mean() * abs(rows[-1][1] - rows[-1][2])
    return float(error), rows


def calibrate(lists: list[Lists], scorer: Scorer) -> tuple[float, float]:
    """Fits the calibration on held-out queries, every set weighing the same per pair as drawn,
    and prints how well it holds by cross-fitting over halves of them."""
    raw, relevant = [], []
    for group in lists:
        for i, c in enumerate(group.found):
            if held_out(group.name, c.query):
                real = ~c.forced  # what retrieval found, as in use
                raw.append(scorer.score(group.pairs(i))[real])
                relevant.append(c.relevant[real])
    halves = [(np.concatenate(raw[h::2]), np.concatenate(relevant[h::2])) for h in (0, 1)]
    p = []
    for fit_on, use_on in ((0, 1), (1, 0)):
        scale, bias = logistic(*halves[fit_on])
        p.append(1 / (1 + np.exp(-(scale * halves[use_on][0] + bias))))
    error, rows = reliability(np.concatenate(p), np.concatenate([halves[1][1], halves[0][1]]))
    print(f"held out: {len(raw)} queries, expected calibration error {error:.4f}")
    for count, mean, share in rows:
        print(f"  {count:6d} pairs  p {mean:.3f}  relevant {share:.3f}")
    return logistic(np.concatenate(raw), np.concatenate(relevant))


def main() -> None:
    args = arguments()
    args.cache.mkdir(parents=True, exist_ok=True)
    encoder = Encoder(args.model, args.layer, args.cache, args.threads)
    term = asset.term_weights(encoder.tokenizer, args.data, args.cache)
    encoded = []
    for name in args.sets:
        pool = pool_of(args.data, name)
        queries = encode(encoder, "query", pool.queries, args.cache / f"{name}.query.layer{args.layer}")
        passages = encode(encoder, "passage", pool.passages, args.cache / f"{name}.passage.layer{args.layer}")
        if len(queries) != len(pool.queries) or len(passages) != len(pool.passages):
            raise SystemExit(f"{args.cache} holds encodings of another draw of {name}; delete them")
        encoded.append((name, retrieval.candidates(pool, queries, passages, DEPTH), queries, passages))
    mean = np.mean([passages.sample(37).mean(0) for *_, passages in encoded], 0)
    lists = [Lists(name, found, queries, passages, mean, term) for name, found, queries, passages in encoded]
    sample = np.concatenate([passages.sample(101) for *_, passages in encoded]) - mean
    sample /= np.linalg.norm(sample, axis=1, keepdims=True)
    _, axes = np.linalg.eigh(sample.T @ sample)  # principal axes, the largest last
    scorer = Scorer(axes[:, ::-1][:, : args.width], axes[:, ::-1][:, : TOPIC_WIDTH[args.every_feature]])
    if args.every_feature:
        scorer.p["b"] = np.float32(2)
    train(lists, scorer, args.epochs, args.every_feature)
    scale, bias = calibrate(lists, scorer)
    print(json.dumps({k: round(float(v), 4) for k, v in scorer.p.items() if np.ndim(v) == 0} | {"scale": scale, "offset": bias}))
    asset.write(args.out, scorer, mean, term, args.layer, scale, bias)


if __name__ == "__main__":
    main()
