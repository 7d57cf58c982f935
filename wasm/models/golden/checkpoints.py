"""Makes checkpoints.json.gz and checkpoints.bin.gz: small checkpoints of random weights, one of each
architecture that the packer takes beside BERT's own, and what the reference
implementation, transformers on TensorFlow in fp32, answers with them. Their
tokenizers are those of tokenizers.json.gz; the texts are the first of texts.json.gz.

    python3 -m venv .cache/venv-checkpoints
    .cache/venv-checkpoints/bin/pip install -r wasm/models/golden/requirements-checkpoints.txt
    .cache/venv-checkpoints/bin/python wasm/models/golden/checkpoints.py

    {NAME: {"config": config.json, "tokenizer": NAME, "prompts": {...} or null, "pooling": "mean" | "cls",
            "weights": [from, to], where checkpoints.bin has its model.safetensors in float16,
            "vectors": [[...]] of the texts, of unit length      embedding
            "pairs": [[query, text, probability]]}}              rerank

Weights are multiples of a quarter of their deviation, which packs well, and large enough that attention, its bias and the positions show in what comes out.
"""
import gzip, json, os, pathlib, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import transformers
from safetensors.numpy import save
from tokenizers import Tokenizer
from transformers.modeling_tf_pytorch_utils import convert_tf_weight_name_to_pt_weight_name

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(20251127)
WINDOW, TEXTS = 64, 40

def load(name): return json.loads(gzip.decompress((here / name).read_bytes()))

def scale(name, shape):
    if "relative_attention_bias" in name: return 1.5
    if "word" in name: return .7
    if "position" in name or "token_type" in name: return .5
    if len(shape) == 2: return 1.2 / shape[0] ** .5
    return .2

def randomize(model):
    """Gives the model random weights that float16 holds; they are returned under PyTorch's names."""
    out = {}
    for w in model.weights:
        shape = tuple(w.shape)
        v = scale(w.name, shape) * np.round(4 * rng.normal(0, 1, shape)) / 4
        if w.name.endswith("gamma:0"): v = 1 + v / 2
        v = v.astype(np.float16)
        w.assign(v.astype(np.float32))
        name, transpose = convert_tf_weight_name_to_pt_weight_name(w.name, tf_weight_shape=w.shape)
        out[name] = np.ascontiguousarray(v.T if transpose.name == "SIMPLE" else v)
    return out

def config(kind, t, **more):
    return kind(vocab_size=t.get_vocab_size() + more.pop("spare", 0), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        hidden_act="gelu", **more)

def embedder(model, t, items, prompts, pooling):
    out = []
    for item in items:
        e = t.encode((prompts or {}).get(item["kind"], "") + item["text"])
        ids = e.ids if len(e.ids) <= WINDOW else e.ids[:WINDOW - 1] + e.ids[-1:]
        s = model(tf.constant([ids]), training=False).last_hidden_state.numpy()[0]
        v = s[0] if pooling == "cls" else s.mean(0)
        out.append([round(float(x), 5) for x in v / np.linalg.norm(v)])
    return out

def reranker(model, t, items):
    queries = ["Why was the small river rebuilt?", "a", "glacier " * 60, "Où est le vaccin ?"]
    out = []
    for i, item in enumerate(items):
        query = queries[i % len(queries)]
        bare = lambda s: t.encode(s, add_special_tokens=False).ids
        q, text, frame = bare(query)[:WINDOW // 2], bare(item["text"]), t.encode("a", "a")
        one = len(bare("a"))
        head, middle, tail = frame.ids[:1], frame.ids[1 + one:len(frame.ids) - one - 1], frame.ids[-1:]
        text = text[:WINDOW - len(head + q + middle + tail)]
        ids = head + q + middle + text + tail
        types = [0] * len(head + q + middle) + [frame.type_ids[-1]] * len(text + tail)
        more = {"token_type_ids": tf.constant([types])} if any(types) else {}
        logit = float(model(tf.constant([ids]), training=False, **more).logits.numpy()[0, 0])
        out.append([query, item["text"], logit])
    raw = np.array([x[2] for x in out])
    shift, width = float(raw.mean()), float(raw.std())
    return {"scale": 1 / width, "bias": -shift / width}, [[q, d, round(float(1 / (1 + np.exp(-(x - shift) / width))), 5)] for q, d, x in out]

def main():
    items, files = load("texts.json.gz")[:TEXTS], load("tokenizers.json.gz")["tokenizers"]
    prompts, T = {"query": "query: ", "passage": "passage: "}, transformers
    rows = dict(max_position_embeddings=WINDOW + 2, pad_token_id=1)
    out, blob = {}, b""
    for name, words, kind, cls, pooling, more in (
        ("roberta", "roberta", T.RobertaConfig, T.TFRobertaModel, "mean", dict(rows, type_vocab_size=1, layer_norm_eps=1e-5, spare=5)),
        ("xlm-roberta", "xlmr", T.XLMRobertaConfig, T.TFXLMRobertaModel, "mean", dict(rows, type_vocab_size=1, layer_norm_eps=1e-5)),
        ("xlm-roberta-rerank", "xlmr", T.XLMRobertaConfig, T.TFXLMRobertaForSequenceClassification, None, dict(rows, type_vocab_size=1, layer_norm_eps=1e-5, num_labels=1)),
        ("mpnet", "mpnet", T.MPNetConfig, T.TFMPNetModel, "mean", dict(max_position_embeddings=WINDOW + 2)),
        ("bert-cased", "bert_cased", T.BertConfig, T.TFBertModel, "cls", dict(max_position_embeddings=WINDOW)),
        ("bert-cased-rerank", "bert_cased", T.BertConfig, T.TFBertForSequenceClassification, None, dict(max_position_embeddings=WINDOW, num_labels=1)),
    ):
        t = Tokenizer.from_str(json.dumps(files[words]["file"]))
        c = config(kind, t, **more)
        model = cls(c)
        model(tf.constant([[0, 5, 2]]))
        weights = randomize(model)
        entry = {"config": json.loads(c.to_json_string(use_diff=False)), "tokenizer": words, "prompts": prompts if pooling == "mean" and words != "mpnet" else None, "pooling": pooling or "mean",
            "weights": [len(blob), len(blob) + len(save(weights, {"format": "pt"}))]}
        blob += save(weights, {"format": "pt"})
        entry["config"] = {k: v for k, v in entry["config"].items() if k in ("model_type", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
            "max_position_embeddings", "layer_norm_eps", "hidden_act", "pad_token_id", "vocab_size", "type_vocab_size", "relative_attention_num_buckets", "position_embedding_type")}
        if pooling: entry["vectors"] = embedder(model, t, items, entry["prompts"], pooling)
        else: entry["config"]["calibration"], entry["pairs"] = reranker(model, t, items)
        out[name] = entry
        print(name, file=sys.stderr)
    for file, content in (("checkpoints.json.gz", json.dumps(out, ensure_ascii=False, separators=(",", ":")).encode()), ("checkpoints.bin.gz", blob)):
        with gzip.GzipFile(here / file, "wb", mtime=0) as f: f.write(content)

if __name__ == "__main__":
    main()
