"""nDCG@10 of candidate lists reranked with the NumPy reference.

    python -m late.evaluate --model CHECKPOINT --asset rerank-small.safetensors --candidates FOLDER

FOLDER has for each set SET.jsonl, {"query", "grades": {document: grade}, "cands":
[{"c": line of the text, "d": document, "f": fused score}]} a line, best first,
and SET.texts.jsonl, a JSON string a line. "alone" is order by the reranker's
log-odds x; "query" is the server's, max(x, m + floor s) + prior s z: m and s mean
and deviation of x, z the standardised fused score, all among the candidates that
are reranked; what was not reranked stays behind.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from .fit import reliability
from .reference import Reference
from .retrieval import standardise
from .states import Encoder, encode


def ndcg(ranking: list[str], grades: dict[str, float], k: int = 10) -> float:
    """Normalised discounted cumulative gain of the first k documents, grades as gains."""
    seen = list(dict.fromkeys(ranking))[:k]
    gain = sum(max(grades.get(d, 0), 0) / np.log2(i + 2) for i, d in enumerate(seen))
    best = sum(g / np.log2(i + 2) for i, g in enumerate(sorted((g for g in grades.values() if g > 0), reverse=True)[:k]))
    return gain / best if best else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder with the embedder's model.onnx and tokenizer.json")
    parser.add_argument("--asset", type=Path, required=True)
    parser.add_argument("--candidates", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path(__file__).resolve().parents[4] / ".cache" / "late")
    parser.add_argument("--prior", type=float, default=1.5)
    parser.add_argument("--floor", type=float, default=0.65)
    parser.add_argument("--depth", type=int, default=20)
    parser.add_argument("--queries", type=int, default=0, help="only so many of each set, drawn with a fixed seed")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    reference = Reference(args.asset)
    encoder = Encoder(args.model, reference.layer, args.cache, args.threads)
    print(f"{'set':16}{'queries':>8}{'fused':>8}{'alone':>8}{'query':>8}{'ECE':>8}")
    for file in sorted(args.candidates.glob("*.jsonl")):
        if file.name.endswith(".texts.jsonl"):
            continue
        name = file.stem
        rows = [json.loads(line) for line in file.open()]
        texts = [json.loads(line) for line in (args.candidates / f"{name}.texts.jsonl").open()]
        if 0 < args.queries < len(rows):
            rows = [rows[i] for i in np.sort(np.random.default_rng(0).choice(len(rows), args.queries, replace=False))]
        used = sorted({c["c"] for r in rows for c in r["cands"][: args.depth]})
        at = {c: i for i, c in enumerate(used)}
        stem = f"eval-{name}-{len(rows)}-{args.depth}.layer{reference.layer}"
        queries = encode(encoder, "query", [r["query"] for r in rows], args.cache / f"{stem}.query")
        passages = encode(encoder, "passage", [texts[c] for c in used], args.cache / f"{stem}.passage")
        before, after, odds, relevant = [], [], [], []
        for i, row in enumerate(rows):
            head = row["cands"][: args.depth]
            documents = [c["d"] for c in row["cands"]]
            query, ids = queries.states(i), queries.ids(i)
            logit = np.array([reference.log_odds(reference.features(ids, query, passages.states(at[c["c"]]))) for c in head])
            prior = args.prior * logit.std() * standardise(np.array([c["f"] for c in head]))
            lifted = np.maximum(logit, logit.mean() + args.floor * logit.std()) + prior
            before.append(ndcg(documents, row["grades"]))
            orders = [np.argsort(-x, kind="stable") for x in (logit, lifted)]
            after.append([ndcg([documents[j] for j in o] + documents[len(head) :], row["grades"]) for o in orders])
            odds.append(logit)
            relevant += [float(row["grades"].get(c["d"], 0) > 0) for c in head]
        error, _ = reliability(1 / (1 + np.exp(-np.concatenate(odds))), np.array(relevant))
        print(f"{name:16}{len(rows):8}{np.mean(before):8.4f}" + "".join(f"{x:8.4f}" for x in np.mean(after, 0)) + f"{error:8.4f}")


if __name__ == "__main__":
    main()
