"""The late-interaction head in NumPy, straight from its definition in model.py.

The golden tests of the engine compare with these functions.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors import safe_open

EPSILON = 1e-6


class Reference:
    """A reranker's asset file."""

    def __init__(self, path: Path | str):
        with safe_open(str(path), "np") as file:
            self.settings = json.loads(file.metadata()["mneme"])
            t = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        self.layer = self.settings["late_layer"]
        self._project = self._linear(t, "late.project")
        self._topic = self._linear(t, "late.topic")
        self._term, self._gate, self._weights = t["late.term"], t["late.gate"], t["late.weights"]
        self._calibration = self.settings["calibration"]

    @staticmethod
    def _linear(t: dict[str, np.ndarray], name: str):
        weight = t[f"{name}.weight"].astype(np.float32) * t[f"{name}.scale"][:, None]
        bias = t[f"{name}.bias"]
        return lambda h: h @ weight.T + bias

    def features(self, query_ids: np.ndarray, query: np.ndarray, text: np.ndarray) -> np.ndarray:
        """f_0, f_1 and f_2 of a pair, F32 [3].

        query_ids: the query's own word pieces, [m]; query: their states after
        self.layer layers, [m, hidden]; text: those of the text's own pieces,
        [n, hidden]. Own pieces leave out [CLS], the prefix and [SEP]. f_0 and f_1
        are 0 where m or n is 0.
        """
        length = np.log1p(len(text))
        if len(query) == 0 or len(text) == 0:
            return np.array([0, 0, length], np.float32)
        logit = self._term[query_ids] + query @ self._gate
        weight = np.exp(logit - logit.max())
        weight /= weight.sum()
        similarity = unit(self._project(query)) @ unit(self._project(text)).T
        topic = unit(self._topic(query.mean(0))) @ unit(self._topic(text.mean(0)))
        return np.array([weight @ similarity.max(1), topic, length], np.float32)

    def log_odds(self, features: np.ndarray) -> np.ndarray:
        """Calibrated log-odds of relevance of features [..., 3]."""
        raw = features @ self._weights[:3] + self._weights[3]
        return self._calibration["scale"] * raw + self._calibration["bias"]

    def probability(self, query_ids: np.ndarray, query: np.ndarray, text: np.ndarray) -> float:
        """The probability that the text answers the query, 0-1."""
        return float(1 / (1 + np.exp(-self.log_odds(self.features(query_ids, query, text)))))


def unit(x: np.ndarray) -> np.ndarray:
    """x over its norm along the last axis."""
    return x / (np.linalg.norm(x, axis=-1, keepdims=True) + EPSILON)
