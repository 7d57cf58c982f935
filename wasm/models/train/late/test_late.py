"""Self-check without data: pytest late (in wasm/models/train)."""

from __future__ import annotations

import numpy as np
import pytest

from . import asset, fit, retrieval
from .corpora import BM25
from .model import Pairs, Scorer, join, list_loss
from .reference import Reference

HIDDEN, WIDTH, TOPIC, VOCAB = 12, 8, 4, 30


def pairs(rng: np.random.Generator, lengths=(5, 1, 9)) -> Pairs:
    texts = [rng.normal(size=(n, HIDDEN)).astype(np.float64) for n in lengths]
    return join(rng.normal(size=(4, HIDDEN)), rng.normal(size=4), texts)


def scorer(rng: np.random.Generator) -> Scorer:
    s = Scorer(rng.normal(size=(HIDDEN, WIDTH)), rng.normal(size=(HIDDEN, TOPIC)))
    s.p["gate"] = 0.3 * rng.normal(size=HIDDEN)
    s.p = {k: np.asarray(v, np.float64) for k, v in s.p.items()}
    s.p["l"], s.p["bias"] = np.float64(0.4), np.float64(-3)
    return s


@pytest.mark.parametrize("name", ["project", "topic", "gate", "c", "a", "b", "l", "bias"])
def test_gradient(name: str):
    rng = np.random.default_rng(3)
    s, x, loss = scorer(rng), pairs(rng), list_loss(np.array([0.0, 1.0, 0.0]), 0.7)
    _, gradient = s.gradient(x, loss)
    direction = rng.normal(size=np.shape(s.p[name]))
    start, h = s.p[name], 1e-5
    values = []
    for sign in (1, -1):
        s.p[name] = start + sign * h * direction
        values.append(loss(s.score(x))[0])
    assert np.sum(gradient[name] * direction) == pytest.approx((values[0] - values[1]) / (2 * h), rel=2e-3, abs=1e-6)


def test_asset_scores_as_the_model(tmp_path):
    """What was fitted, written and read back gives the same log-odds, but for int8."""
    rng = np.random.default_rng(4)
    s, mean, term = scorer(rng), rng.normal(size=HIDDEN), np.abs(rng.normal(size=VOCAB))
    term[7] = asset.SILENT
    asset.write(tmp_path / "a.safetensors", s, mean, term, 3, 0.9, -0.2)
    r = Reference(tmp_path / "a.safetensors")
    ids = np.array([3, 7, 11, 3])
    query, texts = rng.normal(size=(4, HIDDEN)), [rng.normal(size=(n, HIDDEN)) for n in (6, 1, 14)]
    want = 0.9 * s.score(join(query - mean, term[ids], [t - mean for t in texts])) - 0.2
    got = [r.log_odds(r.features(ids, query, t)) for t in texts]
    np.testing.assert_allclose(got, want, atol=0.15)
    assert r.layer == 3
    only_marks = r.features(np.array([7, 7]), query[:2], texts[0])
    assert np.isfinite(only_marks).all()
    np.testing.assert_array_equal(r.features(ids[:0], query[:0], texts[0]), np.array([0, 0, np.log(7)], np.float32))


def test_calibration_recovers_a_logistic_model():
    rng = np.random.default_rng(5)
    raw = rng.normal(size=40000) * 3
    relevant = (rng.random(40000) < 1 / (1 + np.exp(-(0.6 * raw - 2)))).astype(float)
    scale, bias = fit.logistic(raw, relevant)
    assert (scale, bias) == (pytest.approx(0.6, abs=0.05), pytest.approx(-2, abs=0.1))
    error, rows = fit.reliability(1 / (1 + np.exp(-(scale * raw + bias))), relevant)
    assert error < 0.01
    assert sum(r[0] for r in rows) == 40000


def test_bm25_prefers_the_rare_word():
    bm25 = BM25(["the river bank", "the bank", "the bank of the town"])
    assert bm25.scores("river banks").argmax() == 0
    assert bm25.scores("zebra").max() == 0


def test_fuse_puts_what_both_lists_like_first():
    fused = retrieval.fuse(np.array([0.9, 0.8, 0.1, 0.0]), np.array([0.0, 3.0, 1.0, 0.0]))
    assert fused.argmax() == 1
    assert retrieval.fuse(np.array([0.2, 0.9]), np.zeros(2)).argmax() == 1


def test_standardise():
    z = retrieval.standardise(np.array([1.0, 2.0, 3.0]))
    assert z.mean() == pytest.approx(0)
    assert z.std() == pytest.approx(1)
    assert not retrieval.standardise(np.ones(4)).any()
