"""Makes heads.json.gz: what the sparse encoder and every form of reranker answer
in reference implementations in fp32. Learned-sparse vectors of splade-tiny and the
cross-encoders (all-MiniLM-L6-v2 under a random head) come from an encoder in NumPy,
the late reranker's from the states of e5-small-v2 in ONNX Runtime and the formula in
wasm/models/train/late/reference.py.

    .cache/venv-golden/bin/pip install -r wasm/models/golden/requirements.txt
    wasm/models/fetch.sh && .cache/venv-golden/bin/python wasm/models/golden/heads.py

The texts are the first of texts.json.gz and paragraphs of samples/*.md; the
questions are written here.
    {"texts":  [{"kind": "query" | "passage", "text": ..., "terms": [...], "weights": [...]}],
     "heads":  {"pooler" | "plain" | "joint": {"weight": [384], "bias": b, "scale": a}},
     "pairs":  [{"query": ..., "text": ..., "pooler": p, "plain": p, "joint": p, "late": p,     probabilities
                 "pooler8": p, "plain8": p, "joint8": p, "late8": p}]}                        of int8 weights

A head's weights are scaled so that the raw scores of the ordinary pairs have mean 0
and deviation 1: the probabilities spread over 0-1, where an error shows.
"""
import gzip, json, math, random, sys
import numpy as np
import onnx, onnxruntime
from make import NumpyBert, cache, erf_gelu, here, tokenizer, write

sys.path.append(str(here.parent / "train"))
from late.reference import Reference

QUESTIONS = [
    ("allergen-information", "is the almond and orange cake safe for someone with coeliac disease"),
    ("data-protection", "how long are camera pictures kept?"),
    ("employee-handbook", "who do I call when I am ill"),
    ("espresso-machine-manual", "descaling the boiler"),
    ("green-coffee-buying", "What price do we pay for green coffee?"),
    ("opening-hours", "when does the station kiosk close on Sunday"),
    ("refund-policy", "customer wants money back for a damaged bag"),
    ("roasting-profiles", "drum temperature at first crack"),
    ("runbook-cold-room", "cold room alarm at night"),
    ("runbook-web-shop-errors", "card payments fail with error 502"),
    ("shipping-rules", "do you send parcels to Norway"),
    ("wholesale-terms", "payment terms for wholesale customers"),
]

def paragraphs():
    """{document: its paragraphs of 80 characters and more}"""
    out = {}
    for file in sorted((here.parents[2] / "samples").glob("*.md")):
        out[file.stem] = [p.strip() for p in file.read_text().split("\n\n") if len(p) >= 80]
    return out

class Masked(NumpyBert):
    """BERT with its masked-language-model head, whose output layer is the word embeddings."""
    def logits(self, ids):
        x = self.norm(erf_gelu(self.lin(self(np.array(ids)), "cls.predictions.transform.dense")), "cls.predictions.transform.LayerNorm")
        return x @ self.w["embeddings.word_embeddings.weight"].T + self.w["cls.predictions.bias"]

def sparse(items):
    t, model, out = tokenizer("splade-tiny"), Masked(cache / "splade-tiny"), []
    for item in items:
        ids = t.encode(item["text"]).ids
        if len(ids) > 512: ids = ids[:511] + [ids[-1]]
        v = np.log1p(np.maximum(model.logits(ids), 0)).max(0)
        terms = np.flatnonzero(v > 0)
        if item["kind"] == "passage" and len(terms) > 128:
            terms = np.sort(np.argsort(-v, kind="stable")[:128])
        out.append({**item, "terms": terms.tolist(), "weights": [round(float(x), 4) for x in v[terms]]})
    return out

def unit(x): return x / np.linalg.norm(x, axis=-1, keepdims=True)

def best(q, d):
    """The largest cosine of each row of q to a row of d; none without rows of d."""
    return (unit(q) @ unit(d).T).max(1) if len(q) and len(d) else np.zeros(len(q))

def sigmoid(x): return 1 / (1 + math.exp(-x))

def int8(w, axis=1):
    """A matrix rounded to int8 with a scale for each output, as a pack holds it."""
    peak = np.abs(w).max(axis, keepdims=True)
    peak[peak == 0] = 1
    return (np.round(w / peak * 127) * (peak / 127)).astype(np.float32)

def rounded(model):
    for name, w in model.w.items():
        if w.ndim == 2 and "position" not in name and "token_type" not in name: model.w[name] = int8(w)
    return model

def rounded_onnx(model):
    for t in model.graph.initializer:
        if len(t.dims) == 2 and (t.name.startswith("onnx::MatMul") or t.name.endswith("word_embeddings.weight")):
            t.CopyFrom(onnx.numpy_helper.from_array(int8(onnx.numpy_helper.to_array(t), 0 if t.name.startswith("onnx::") else 1), t.name))
    return model

def cross(pairs, ordinary, window=256):
    """Probabilities by all-MiniLM-L6-v2 with a random head, in each form, in fp32 and
    with the weights as a pack rounds them; the heads."""
    t, weight = tokenizer("all-MiniLM-L6-v2"), np.random.default_rng(7).standard_normal(384)
    cls, sep = t.token_to_id("[CLS]"), t.token_to_id("[SEP]")
    pieces = lambda s: t.encode(s, add_special_tokens=False).ids
    def features(model):
        for pair in pairs:
            q = pieces(pair["query"])[: window // 2]
            d = pieces(pair["text"])[: window - 3 - len(q)]
            x = model(np.array([cls] + q + [sep] + d + [sep]), np.array([0] * (len(q) + 2) + [1] * (len(d) + 1)))
            m = best(x[1 : 1 + len(q)], x[2 + len(q) : -1])
            yield weight @ np.tanh(model.lin(x[0], "pooler.dense")), weight @ x[0], m.mean() if len(q) else 0
    model = NumpyBert(cache / "all-MiniLM-L6-v2")
    exact = np.array(list(features(model)))
    packed = np.array(list(features(rounded(model))))
    scale = 1 / exact[:ordinary].std(0)
    heads = {}
    for name, mix in (("pooler", (1, 0, 0)), ("plain", (0, 1, 0)), ("joint", (0, .7, .7))):
        a = np.array(mix) * scale
        bias = -(exact[:ordinary] @ a).mean()
        heads[name] = {"weight": [float(np.float32(x)) for x in weight * (a[0] + a[1])], "bias": float(np.float32(bias)), "scale": float(np.float32(a[2]))}
        for pair, x, y in zip(pairs, exact @ a, packed @ a): pair[name], pair[name + "8"] = sigmoid(x + bias), sigmoid(y + bias)
    return heads

def late(pairs, window=512):
    """Probabilities of the built-in late reranker over the states of e5-small-v2, in
    fp32 and with that model's weights as its pack rounds them."""
    reference = Reference(here.parent / "reranksmall" / "rerank-small.safetensors")
    model, n = onnx.load(str(cache / "e5-small-v2" / "model.onnx")), reference.layer
    state = "last_hidden_state" if n == 12 else f"/encoder/layer.{n - 1}/output/LayerNorm/Add_1_output_0"
    if n < 12: model.graph.output.append(onnx.ValueInfoProto(name=state))
    sessions = {"late": onnxruntime.InferenceSession(model.SerializeToString())}
    sessions["late8"] = onnxruntime.InferenceSession(rounded_onnx(model).SerializeToString())
    t = tokenizer("e5-small-v2")
    def states(session, prefix, text):
        """Its own word pieces, without prefix and special tokens, and their states."""
        ids = t.encode(prefix + text).ids
        if len(ids) > window: ids = ids[: window - 1] + [ids[-1]]
        a = np.array([ids], dtype=np.int64)
        x = session.run([state], {"input_ids": a, "attention_mask": np.ones_like(a), "token_type_ids": np.zeros_like(a)})[0][0]
        own = len(t.encode(prefix, add_special_tokens=False).ids) + 1
        return np.array(ids[own:-1], dtype=int), x[own:-1]
    for name, session in sessions.items():
        for pair in pairs:
            ids, query = states(session, "query: ", pair["query"])
            pair[name] = reference.probability(ids, query, states(session, "passage: ", pair["text"])[1])

def main():
    rng, docs = random.Random(11), paragraphs()
    items = json.loads(gzip.decompress((here / "texts.json.gz").read_bytes()))[:14]
    items += [{"kind": "passage", "text": p} for p in rng.sample([p for ps in docs.values() for p in ps], 24)]
    items += [{"kind": "query", "text": q} for _, q in QUESTIONS]
    pairs = []
    for name, q in QUESTIONS:
        pairs += [{"query": q, "text": p} for p in docs[name][:3] + docs[rng.choice(sorted(set(docs) - {name}))][:2]]
    ordinary, whole = len(pairs), " ".join(p for ps in docs.values() for p in ps)
    for q, p in (("", docs["about-us"][0]), (QUESTIONS[0][1], ""), ("", ""), (QUESTIONS[1][1], whole[:9000]), (whole[:3000], docs["about-us"][0]), (whole[2000:5000], whole[:9000])):
        pairs.append({"query": q, "text": p})
    heads = cross(pairs, ordinary)
    late(pairs)
    for pair in pairs:
        for name in ("pooler", "plain", "joint", "late", "pooler8", "plain8", "joint8", "late8"): pair[name] = round(float(pair[name]), 5)
    write("heads.json.gz", json.dumps({"texts": sparse(items), "heads": heads, "pairs": pairs}, ensure_ascii=False).encode("utf-8"))

if __name__ == "__main__":
    main()
