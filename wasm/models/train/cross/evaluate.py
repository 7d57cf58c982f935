"""Measures a cross-encoder as a reranker: nDCG@10 with its score alone and
mixed with the first stage's.

    python evaluate.py RUN_OR_CHECKPOINT --candidates DIR --sets locomo-a,scifact
"""

import argparse
import json
import math
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from data import Pairing, read_jsonl
from model import CrossEncoder

MIXES = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def ndcg(ranking: list[str], grades: dict[str, int], k: int = 10) -> float:
    """Linear gain, as trec_eval's ndcg_cut."""
    gain = sum(grades.get(d, 0) / math.log2(i + 2) for i, d in enumerate(ranking[:k]))
    ideal = sorted((g for g in grades.values() if g > 0), reverse=True)[:k]
    return gain / sum(g / math.log2(i + 2) for i, g in enumerate(ideal))


def rank(row: dict, scores: list[float]) -> list[str]:
    """Documents by their best chunk: those with a score by it, the rest behind in the first stage's order."""
    order = sorted(range(len(scores)), key=lambda i: -scores[i]) + list(range(len(scores), len(row["cands"])))
    return list(dict.fromkeys(row["cands"][i]["d"] for i in order))


def standardise(values: list[float]) -> list[float]:
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
    return [(v - mean) / (deviation or 1.0) for v in values]


@torch.inference_mode()
def score(model: CrossEncoder, pairing: Pairing, pairs: list[tuple[str, str]], amp: bool) -> list[float]:
    """Raw scores of pairs; long and short ones are computed apart."""
    batch = 32
    model.eval()
    device = next(model.parameters()).device
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][1]))
    out = [0.0] * len(pairs)
    for start in range(0, len(order), batch):
        part = order[start : start + batch]
        b = pairing([pairs[i] for i in part]).to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=amp):
            raw = model(b.ids, b.types, b.query, b.text)
        for i, s in zip(part, raw.tolist(), strict=True):
            out[i] = s
    return out


Scorer = Callable[[list[tuple[str, str]]], list[float]]


def measure(scorer: Scorer, folder: Path, name: str, limit: int, depth: int) -> dict:
    """nDCG@10 over a fixed sample of a set's queries: of the first stage, and
    of its first candidates ordered by score + w * z for each mix w, where z is
    the first stage's score standardised among them."""
    rows = list(read_jsonl(folder / f"{name}.jsonl"))
    texts = [json.loads(line) for line in (folder / f"{name}.texts.jsonl").open(encoding="utf-8")]
    if limit and limit < len(rows):
        rows = random.Random(7).sample(rows, limit)
    rows = [r for r in rows if r["cands"]]
    pairs = [(r["query"], texts[c["c"]]) for r in rows for c in r["cands"][:depth]]
    began = time.time()
    raw = iter(scorer(pairs))
    pair_ms = round(1000 * (time.time() - began) / len(pairs), 1)
    total = dict.fromkeys(MIXES, 0.0)
    first = 0.0
    for row in rows:
        head = row["cands"][:depth]
        mine = [next(raw) for _ in head]
        z = standardise([c["f"] for c in head])
        first += ndcg(rank(row, []), row["grades"])
        for w in MIXES:
            total[w] += ndcg(rank(row, [m + w * s for m, s in zip(mine, z, strict=True)]), row["grades"])
    n = len(rows)
    by_mix = {w: round(t / n, 4) for w, t in total.items()}
    return {"set": name, "queries": n, "first": round(first / n, 4), "mix": by_mix, "ms_per_pair": pair_ms}


def load(path: Path) -> tuple[CrossEncoder, Path]:
    """The model of a training run's folder or of a checkpoint's, with its tokenizer."""
    if (path / "last.pt").exists():
        state = torch.load(path / "last.pt", map_location="cpu")
        model = CrossEncoder(state["config"])
        model.load_state_dict(state["model"])
        return model, path / "tokenizer.json"
    return CrossEncoder.from_checkpoint(path), path / "tokenizer.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder of a run, an export or an encoder (fresh head)")
    parser.add_argument("--candidates", type=Path, required=True, help="folder of SET.jsonl and SET.texts.jsonl")
    parser.add_argument("--sets", default="locomo-a,cranfield,scifact,hotpotqa-mini,squad-dev-a")
    parser.add_argument("--limit", type=int, default=0, help="queries of each set (0: all)")
    parser.add_argument("--depth", type=int, default=20, help="candidates scored of each query")
    parser.add_argument("--layers", type=int, help="keep the first layers only")
    parser.add_argument("--window", type=int, default=512)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--bf16", action="store_true", help="where the processor has it natively")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    if args.layers:
        model, tokenizer = CrossEncoder.from_checkpoint(args.model, args.layers), args.model / "tokenizer.json"
    else:
        model, tokenizer = load(args.model)
    model = model.to("cuda" if torch.cuda.is_available() else "cpu")
    pairing = Pairing(tokenizer, args.window)
    for name in args.sets.split(","):
        scorer = partial(score, model, pairing, amp=args.bf16)
        found = measure(scorer, args.candidates, name, args.limit, args.depth)
        best = max(found["mix"], key=found["mix"].__getitem__)
        print(json.dumps(found | {"best": best, "at_best": found["mix"][best]}), flush=True)


if __name__ == "__main__":
    main()
