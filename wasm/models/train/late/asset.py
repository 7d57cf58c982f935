"""The reranker's asset file: tensors beside the embedder's pack."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tqdm import tqdm

from . import corpora
from .model import Scorer

# Sets that document frequencies are counted over, each weighing the same.
GENERAL = ("medquad", "fairytaleqa", "friendsqa", "clapnq", "pubmedqa", "docs-sections", "2wiki-titles")
PASSAGES = 6000  # at most, of each set
RARE = 3e-5  # frequency added to every piece
SILENT = -1e4  # log weight of a piece without a letter or digit


def term_weights(tokenizer: Tokenizer, root: Path, cache: Path) -> np.ndarray:
    """ln of the inverse document frequency of each word piece over the general
    corpus, SILENT for pieces without a letter or digit. F32 [vocab]."""
    vocab = tokenizer.get_vocab()
    frequency = np.zeros((len(GENERAL), len(vocab)))
    kept = cache / "frequency.npy"
    if kept.exists():
        frequency = np.load(kept)
    else:
        rng = np.random.default_rng(0)
        for row, name in zip(frequency, tqdm(GENERAL, desc="document frequencies"), strict=True):
            texts = [corpora.passage_text(r) for r in corpora.rows(root / name / "corpus.jsonl.gz")]
            if len(texts) > PASSAGES:
                texts = [texts[i] for i in rng.permutation(len(texts))[:PASSAGES]]
            for at in range(0, len(texts), 512):
                for e in tokenizer.encode_batch(texts[at : at + 512], add_special_tokens=False):
                    row[np.unique(e.ids)] += 1
            row /= len(texts)
        np.save(kept, frequency)
    weight = np.log(np.log(1 / (frequency.mean(0) + RARE)))
    for piece, i in vocab.items():
        if not any(c.isalnum() for c in piece.removeprefix("##")) or piece.startswith("[") and piece.endswith("]") and len(piece) > 2:
            weight[i] = SILENT
    return weight.astype(np.float32)


def rows_as_int8(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric int8 codes and a scale for each row, as the packs have them."""
    weight = np.ascontiguousarray(weight)  # a file is written as the memory lies
    scale = np.abs(weight).max(1) / 127
    return np.rint(weight / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def write(path: Path, scorer: Scorer, mean: np.ndarray, term: np.ndarray, layer: int, scale: float, bias: float) -> None:
    """Writes the asset; linears are [out, in], their bias takes the mean state off."""
    tensors = {}
    for name in ("project", "topic"):
        weight, row_scale = rows_as_int8(scorer.p[name].T)
        tensors[f"late.{name}.weight"] = weight
        tensors[f"late.{name}.scale"] = row_scale
        tensors[f"late.{name}.bias"] = -(weight * row_scale[:, None] @ mean).astype(np.float32)
    tensors["late.term"] = np.where(term == SILENT, SILENT, scorer.p["c"] * term).astype(np.float32)
    tensors["late.gate"] = scorer.p["gate"].astype(np.float32)
    tensors["late.weights"] = np.array([scorer.p[k] for k in ("a", "b", "l", "bias")], np.float32)
    settings = {
        "base": "e5-small-v2",
        "task": "rerank",
        "head": "late",
        "late_layer": layer,
        "name": "rerank-small",
        "version": "1",
        "licence": "Apache-2.0",
        "source": "wasm/models/train/late",
        "calibration": {"scale": round(scale, 4), "bias": round(bias, 4)},
    }
    save_file(tensors, path, {"mneme": json.dumps(settings, separators=(",", ":"))})
