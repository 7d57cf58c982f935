"""The late-interaction scorer and its gradients, in NumPy.

A query and a text are encoded apart; h are states of their own pieces at one
layer, minus the mean state. With W the projection [width, hidden], T the topic
projection, u the gate and g the log weight of word pieces:

    w_i = softmax_i(c g[id_i] + u . h_i)                      over the query's pieces
    f_0 = sum_i w_i max_j cos(W h_i, W h_j)                   over the text's pieces j
    f_1 = cos(T mean_i h_i, T mean_j h_j)
    f_2 = ln(1 + pieces of the text)
    raw = a f_0 + b f_1 + l f_2 + bias

f_0 is MaxSim (Khattab and Zaharia 2020, ColBERT) with learned weights of the
query's pieces, begun at their inverse document frequency.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

EPSILON = 1e-6


@dataclass
class Pairs:
    """One query with its candidate texts; h are centred.

    start and length say which rows of text belong to each candidate.
    """

    query: np.ndarray  # F32 [query pieces, hidden]
    term: np.ndarray  # F32 [query pieces], g of each
    text: np.ndarray  # F32 [pieces of all candidates, hidden]
    start: np.ndarray  # [candidates]
    length: np.ndarray  # [candidates]


def join(query: np.ndarray, term: np.ndarray, texts: list[np.ndarray]) -> Pairs:
    """Makes Pairs of a query and its candidates' states."""
    length = np.array([len(t) for t in texts])
    start = np.concatenate([[0], np.cumsum(length)[:-1]])
    return Pairs(query, term, np.concatenate(texts), start, length)


def unit(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows over their norms, and the norms [rows, 1]."""
    norm = np.linalg.norm(x, axis=-1, keepdims=True) + EPSILON
    return x / norm, norm


def unit_gradient(gradient: np.ndarray, u: np.ndarray, norm: np.ndarray) -> np.ndarray:
    return (gradient - u * (gradient * u).sum(-1, keepdims=True)) / norm


class Scorer:
    """Parameters by name: project [hidden, width], topic [hidden, topic width],
    gate [hidden], c, a, b, l, bias."""

    def __init__(self, project: np.ndarray, topic: np.ndarray):
        self.p = {
            "project": project.astype(np.float32),
            "topic": topic.astype(np.float32),
            "gate": np.zeros(len(project), np.float32),
            "c": np.float32(0.8),
            "a": np.float32(12),
            "b": np.float32(0),
            "l": np.float32(0),
            "bias": np.float32(-10),
        }

    def features(self, x: Pairs) -> np.ndarray:
        """f_0, f_1 and f_2 of every candidate, [candidates, 3]."""
        return self._forward(x)[0]

    def score(self, x: Pairs) -> np.ndarray:
        """raw of every candidate, [candidates]."""
        return self.raw(self.features(x))

    def raw(self, f: np.ndarray) -> np.ndarray:
        """raw of features [candidates, 3], [candidates]."""
        return f @ np.array([self.p["a"], self.p["b"], self.p["l"]]) + self.p["bias"]

    def _forward(self, x: Pairs):
        q, q_norm = unit(x.query @ self.p["project"])
        d, d_norm = unit(x.text @ self.p["project"])
        similarity = q @ d.T
        best = np.stack([s + similarity[:, s : s + n].argmax(1) for s, n in zip(x.start, x.length, strict=True)], 1)
        peak = np.take_along_axis(similarity, best, 1)
        logit = self.p["c"] * x.term + x.query @ self.p["gate"]
        weight = np.exp(logit - logit.max())
        weight /= weight.sum()
        q_mean = x.query.mean(0)
        d_mean = np.add.reduceat(x.text, x.start, 0) / x.length[:, None]
        q_topic, qt_norm = unit(q_mean @ self.p["topic"])
        d_topic, dt_norm = unit(d_mean @ self.p["topic"])
        f = np.stack([weight @ peak, d_topic @ q_topic, np.log1p(x.length)], 1)
        return f, (q, q_norm, d, d_norm, best, peak, weight, q_mean, d_mean, q_topic, qt_norm, d_topic, dt_norm)

    def gradient(self, x: Pairs, loss) -> tuple[float, dict[str, np.ndarray]]:
        """The loss of a query's list and its gradient by parameter.

        loss gives, of raw [candidates], its value and d value / d raw.
        """
        f, (q, q_norm, d, d_norm, best, peak, weight, q_mean, d_mean, q_topic, qt_norm, d_topic, dt_norm) = self._forward(x)
        a, b = self.p["a"], self.p["b"]
        value, g = loss(self.raw(f))
        out = dict(zip(("a", "b", "l"), g @ f, strict=True))
        out["bias"] = g.sum()
        by_logit = weight * (a * (peak @ g) - weight @ (a * (peak @ g)))
        out["c"] = by_logit @ x.term
        out["gate"] = x.query.T @ by_logit
        hit, at = np.unique(best, return_inverse=True)  # only the nearest pieces have a gradient
        by_similarity = np.zeros((len(q), len(hit)), np.float32)
        np.add.at(by_similarity, (np.arange(len(q))[:, None], at.reshape(best.shape)), a * weight[:, None] * g[None])
        by_q = unit_gradient(by_similarity @ d[hit], q, q_norm)
        by_d = unit_gradient(by_similarity.T @ q, d[hit], d_norm[hit])
        out["project"] = x.query.T @ by_q + x.text[hit].T @ by_d
        by_qt = unit_gradient(b * (g @ d_topic), q_topic, qt_norm)
        by_dt = unit_gradient(b * g[:, None] * q_topic[None], d_topic, dt_norm)
        out["topic"] = np.outer(q_mean, by_qt) + d_mean.T @ by_dt
        return value, out


def list_loss(relevant: np.ndarray, pointwise: float, prior: np.ndarray | float = 0.0):
    """The loss of one list: softmax over raw + prior (-ln of what its relevant texts have
    together), plus pointwise times the mean logistic loss of its pairs, which
    makes raw comparable between queries.
    """

    def loss(raw: np.ndarray) -> tuple[float, np.ndarray]:
        posterior = raw + prior
        e = np.exp(posterior - posterior.max())
        p = e / e.sum()
        mass = (p * relevant).sum()
        odds = 1 / (1 + np.exp(-raw))
        value = -np.log(mass) + pointwise * np.mean(np.logaddexp(0, raw) - relevant * raw)
        return float(value), (p - p * relevant / mass + pointwise / len(raw) * (odds - relevant)).astype(np.float32)

    return loss


class Adam:
    """Adam (Kingma and Ba 2015) with warm-up, linear decay and a pull back to the
    start in place of weight decay."""

    def __init__(self, parameters: dict[str, np.ndarray], rates: dict[str, float], steps: int, pull: float):
        self._p, self._rates, self._steps, self._pull = parameters, rates, steps, pull
        self._begin = {k: v.copy() for k, v in parameters.items()}
        self._m = {k: np.zeros_like(v) for k, v in parameters.items()}
        self._v = {k: np.zeros_like(v) for k, v in parameters.items()}
        self._t = 0

    def step(self, gradient: dict[str, np.ndarray]) -> None:
        self._t += 1
        schedule = min(1, self._t / 20) * max(0.05, 1 - self._t / (self._steps + 1))
        for k in self._rates:
            g = gradient[k]
            self._m[k] = 0.9 * self._m[k] + 0.1 * g
            self._v[k] = 0.99 * self._v[k] + 0.01 * g * g
            m = self._m[k] / (1 - 0.9**self._t)
            v = self._v[k] / (1 - 0.99**self._t)
            change = m / (np.sqrt(v) + 1e-8)
            if np.ndim(g):
                change = change + self._pull * (self._p[k] - self._begin[k])
            self._p[k] = (self._p[k] - self._rates[k] * schedule * change).astype(np.float32)
