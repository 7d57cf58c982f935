"""Makes rotary.json.gz and rotary.bin.gz: small checkpoints of random weights of the
architectures with rotary positions, of their rerankers and learned-sparse encoders, and
of vectors that are taken through further layers or cut, and what the reference implementation, transformers on PyTorch in fp32,
answers with them. The form is that of checkpoints.py; beside it there are

    "window":     most tokens
    "files":      {PATH: JSON} further files of the folder
    "blobs":      {PATH: [from, to]} further files, in rotary.bin
    "dimensions": of the vectors, where they are cut
    "terms":      [{id: weight}] of the texts, the 128 largest ln(1 + relu(logit)) of a word piece's largest logit    sparse

Nomic's and GTE's checkpoints are written with the names that their makers give, which
transformers converts.

    python3 -m venv .cache/venv-rotary
    .cache/venv-rotary/bin/pip install -r wasm/models/golden/requirements-rotary.txt
    .cache/venv-rotary/bin/python wasm/models/golden/rotary.py
"""
import gzip, json, pathlib, sys
import numpy as np
import torch
import transformers as T
from safetensors.numpy import save
from tokenizers import Tokenizer

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(20261127)
TEXTS = 40

def load(name): return json.loads(gzip.decompress((here / name).read_bytes()))

def draw(shape, deviation): return (deviation * np.round(4 * rng.normal(0, 1, shape)) / 4).astype(np.float16)

def matrix(shape, deviation):
    """Weights that int8 with a scale a row holds as they are: what differs from the reference then is not their rounding."""
    q = np.clip(16 * np.round(rng.normal(0, 2.6, shape)), -112, 112)
    q[np.arange(shape[0]), rng.integers(0, shape[1], shape[0])] = 127
    return (q * 2.0 ** np.round(np.log2(deviation / 42))).astype(np.float16)

def randomize(model, around=1.0):
    """Gives the model random weights that float16 holds; norms lie around that."""
    out = {}
    for name, w in model.state_dict().items():
        shape = tuple(w.shape)
        if "embed" in name and len(shape) == 2: v = matrix(shape, .7) if "type" not in name else draw(shape, .5)
        elif len(shape) == 2: v = matrix(shape, 1.2 / shape[1] ** .5)
        elif name.endswith("weight"): v = (around + draw(shape, .1)).astype(np.float16)
        else: v = draw(shape, .2)
        out[name] = v
    tied = {a for a, x in model.named_parameters(remove_duplicate=False) if "decoder.weight" in a and any(b != a and x is y for b, y in model.named_parameters(remove_duplicate=False))}
    out = {k: v for k, v in out.items() if k not in tied} # as they are saved
    model.load_state_dict({k: torch.tensor(v.astype(np.float32)) for k, v in out.items()}, strict=not tied)
    return out

def states(model, t, items, prompts, window):
    for item in items:
        e = t.encode(prompts.get(item["kind"], "") + item["text"])
        tail = e.ids[-1:]
        ids = e.ids if len(e.ids) <= window else e.ids[:window - 1] + tail
        with torch.no_grad(): yield model(input_ids=torch.tensor([ids])).last_hidden_state.numpy()[0].astype(np.float64)

def nomic_names(w):
    out = {}
    for name, v in w.items():
        for a, b in (("embeddings.LayerNorm", "emb_ln"), ("layers.", "encoder.layers."), ("self_attn.o_proj", "attn.out_proj"), ("mlp.up_proj", "mlp.fc11"), ("mlp.gate_proj", "mlp.fc12"),
                     ("mlp.down_proj", "mlp.fc2"), ("post_attention_layernorm", "norm1"), ("post_mlp_layernorm", "norm2")): name = name.replace(a, b)
        if "q_proj" in name: out[name.replace("self_attn.q_proj", "attn.Wqkv")] = np.concatenate([v] + [w[name.replace("encoder.layers.", "layers.").replace("q_proj", x)] for x in ("k_proj", "v_proj")])
        elif "k_proj" not in name and "v_proj" not in name: out[name] = v
    return out

def gte_names(w):
    out, of = {}, {name.removeprefix("gte."): v for name, v in w.items()}
    for old, v in w.items():
        old = old.removeprefix("gte.") # of a model with a head, which has no prefix
        name = ("" if old.startswith("classifier.") else "new.") + old
        for a, b in (("layers.", "encoder.layer."), ("self_attn.o_proj", "attention.o_proj"), ("post_attention_layernorm", "attn_ln"), ("post_mlp_layernorm", "mlp_ln")): name = name.replace(a, b)
        if "q_proj" in name: out[name.replace("self_attn.q_proj", "attention.qkv_proj")] = np.concatenate([v] + [of[old.replace("q_proj", x)] for x in ("k_proj", "v_proj")])
        elif "up_proj" in name: out[name.replace("up_proj", "up_gate_proj")] = np.concatenate([v, of[old.replace("up_proj", "gate_proj")]])
        elif not any(x in name for x in ("k_proj", "v_proj", "gate_proj")): out[name] = v
    return out

QUERIES = ["Why was the small river rebuilt?", "a", "glacier " * 60, "Où est le vaccin ?"]

def pairs(model, t, items, window):
    """Logits of pairs: a query takes half the window at most, its text what is left."""
    out = []
    bare = lambda s: t.encode(s, add_special_tokens=False).ids
    frame, one = t.encode("a", "a").ids, len(bare("a"))
    head, middle, tail = frame[:1], frame[1 + one:len(frame) - one - 1], frame[-1:]
    for i, item in enumerate(items):
        query = QUERIES[i % len(QUERIES)]
        q = bare(query)[:window // 2]
        text = bare(item["text"])[:window - len(head + q + middle + tail)]
        with torch.no_grad(): out.append([query, item["text"], float(model(input_ids=torch.tensor([head + q + middle + text + tail])).logits[0, 0])])
    raw = np.array([x[2] for x in out])
    shift, width = float(raw.mean()), float(raw.std())
    return {"scale": 1 / width, "bias": -shift / width}, [[q, d, round(float(1 / (1 + np.exp(-(x - shift) / width))), 5)] for q, d, x in out]

def terms(model, t, items, window):
    for item in items:
        ids = t.encode(item["text"]).ids
        ids = ids if len(ids) <= window else ids[:window - 1] + ids[-1:]
        with torch.no_grad(): top = model(input_ids=torch.tensor([ids])).logits[0].numpy().astype(np.float64).max(0)
        best = np.argsort(-top)[:128]
        yield {str(i): round(float(np.log1p(top[i])), 5) for i in sorted(best.tolist()) if top[i] > 0}

def modules(*kinds): return [{"idx": i, "name": str(i), "path": "" if i == 0 else f"{i}_{k}", "type": "sentence_transformers.models." + k} for i, k in enumerate(kinds)]

def pooling(mode): return {"word_embedding_dimension": 64, "pooling_mode_cls_token": mode == "cls", "pooling_mode_mean_tokens": mode == "mean", "pooling_mode_lasttoken": mode == "last", "include_prompt": True}

def main():
    items, words = load("texts.json.gz")[:TEXTS], load("tokenizers.json.gz")["tokenizers"]
    out, blob = {}, b""
    def keep(b):
        nonlocal blob
        blob += b
        return [len(blob) - len(b), len(blob)]
    size = dict(hidden_size=64, num_attention_heads=4, intermediate_size=96, bos_token_id=None, eos_token_id=None)
    both = {"query": "query: ", "document": "passage: "}
    asks = {"query": "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"}
    title = {"query": "task: search result | query: ", "document": "title: none | text: ", "Clustering": "task: clustering | query: "}
    head = {"head_dim": 16}
    for name, tokens, cls, kind, how, prompts, window, more, shown in (
        # ModernBERT's config.json as its makers publish it; a window over several blocks of 256 rows
        ("modernbert", "modernbert", T.ModernBertModel, T.ModernBertConfig, "mean", both, 320,
            dict(num_hidden_layers=4, local_attention=16, global_attn_every_n_layers=3, max_position_embeddings=320, pad_token_id=3, cls_token_id=1, sep_token_id=2, **size),
            {"global_attn_every_n_layers": 3, "global_rope_theta": 160000.0, "local_rope_theta": 10000.0}),
        ("nomic", "bert_cased", T.NomicBertModel, T.NomicBertConfig, "mean", {"search_query": "search_query: ", "search_document": "search_document: "}, 64,
            dict(num_hidden_layers=2, max_position_embeddings=64, pad_token_id=0, **size), None),
        ("gte", "xlmr", T.GteModel, T.GteConfig, "cls", None, 64, dict(num_hidden_layers=2, max_position_embeddings=64, pad_token_id=1, **size), {"rope_theta": 160000.0}),
        ("eurobert", "llama3", T.EuroBertModel, T.EuroBertConfig, "mean", both, 64, dict(num_hidden_layers=2, num_key_value_heads=2, max_position_embeddings=64, pad_token_id=None, mask_token_id=0, **size), {"rope_theta": 250000.0}),
        ("qwen3", "qwen", T.Qwen3Model, T.Qwen3Config, "last", asks, 96, dict(num_hidden_layers=3, num_key_value_heads=2, max_position_embeddings=96, **head, **size), {"rope_theta": 1000000.0}),
        ("qwen3-cut", "qwen", T.Qwen3Model, T.Qwen3Config, "last", asks, 96, dict(num_hidden_layers=2, num_key_value_heads=1, max_position_embeddings=96, **head, **size), {}),
        ("qwen2", "qwen", T.Qwen2Model, T.Qwen2Config, "last", None, 64, dict(num_hidden_layers=2, num_key_value_heads=2, max_position_embeddings=64, **size), {}),
        ("gemma", "gemma", T.Gemma3TextModel, T.Gemma3TextConfig, "mean", title, 64, dict(num_hidden_layers=6, num_key_value_heads=1, head_dim=32, max_position_embeddings=64, sliding_window=20, query_pre_attn_scalar=24,
            use_bidirectional_attention=True, pad_token_id=0, **size), {"sliding_window": 20, "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0, "sliding_window_pattern": 6}),
        ("gemma-causal", "gemma", T.Gemma3TextModel, T.Gemma3TextConfig, "last", None, 64, dict(num_hidden_layers=2, num_key_value_heads=2, head_dim=16, max_position_embeddings=64, sliding_window=20, query_pre_attn_scalar=16, pad_token_id=0,
            layer_types=["sliding_attention", "full_attention"], **size), {}),
        ("bert-dense", "bert_cased", T.BertModel, T.BertConfig, "mean", None, 64, dict(num_hidden_layers=2, max_position_embeddings=64, pad_token_id=0, **size), {}),
    ):
        file = json.loads(json.dumps(words["qwen" if tokens == "llama3" else tokens]["file"]))
        if tokens == "llama3": # a token before the text and one behind it
            file["post_processor"] = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}], "special_tokens": {"<|endoftext|>": {"id": "<|endoftext|>", "ids": [Tokenizer.from_str(json.dumps(file)).token_to_id("<|endoftext|>")], "tokens": ["<|endoftext|>"]}}}
        t = Tokenizer.from_str(json.dumps(file))
        rope = {"rope_parameters": {"rope_type": "default", "rope_theta": shown["rope_theta"]}} if shown and "rope_theta" in shown and "rope_local_base_freq" not in shown else {}
        config = kind(vocab_size=t.get_vocab_size(), **more, **rope)
        config._attn_implementation = "eager"
        model = cls(config).eval() if cls is not T.BertModel else cls(config, add_pooling_layer=False).eval()
        weights = randomize(model, 0.0 if kind is T.Gemma3TextConfig else 1.0)
        wrote = {k: v for k, v in json.loads(config.to_json_string(use_diff=False)).items() if k in ("model_type", "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size",
            "max_position_embeddings", "layer_norm_eps", "norm_eps", "rms_norm_eps", "hidden_act", "hidden_activation", "pad_token_id", "vocab_size", "type_vocab_size", "local_attention", "query_pre_attn_scalar", "use_bidirectional_attention", "use_sliding_window",
            "sliding_window") + (() if shown else ("rope_parameters", "layer_types"))}
        wrote.update(shown or {})
        prefixes = prompts or {}
        entry = {"config": wrote, "tokenizer": "qwen" if tokens == "llama3" else tokens, "window": window, "pooling": how, "files": {"modules.json": modules("Transformer", "Pooling", "Normalize"), "1_Pooling/config.json": pooling(how)},
            "prompts": prompts, "blobs": {}}
        if tokens == "llama3": entry["files"]["tokenizer.json"] = file
        if name == "nomic":
            wrote = {"model_type": "nomic_bert", "activation_function": "swiglu", "n_embd": 64, "n_layer": 2, "n_head": 4, "n_inner": 96, "n_positions": 8192, "max_trained_positions": 64, "rotary_emb_base": 1000, "rotary_emb_fraction": 1.0,
                "rotary_emb_interleaved": False, "rotary_scaling_factor": None, "prenorm": False, "use_rms_norm": False, "layer_norm_epsilon": 1e-12, "type_vocab_size": 2, "vocab_size": t.get_vocab_size(), "parallel_block": False}
            entry["config"], weights = wrote, nomic_names(weights)
        if name == "gte":
            entry["config"]["model_type"], weights = "new", gte_names(weights)
        if name == "qwen3-cut":  # what sentence-transformers 6 writes
            entry["files"]["1_Pooling/config.json"], entry["dimensions"] = {"embedding_dimension": 64, "pooling_mode": "lasttoken", "include_prompt": True}, 24
        layers = []
        if name in ("gemma", "bert-dense"):
            widths, acts = ([64, 128, 64], ["linear.Identity"] * 2) if name == "gemma" else ([64, 32], ["activation.Tanh"])
            entry["files"]["modules.json"] = modules("Transformer", "Pooling", *["Dense"] * len(acts), "Normalize")
            for i, act in enumerate(acts):
                k, n = widths[i], widths[i + 1]
                tensors = {"linear.weight": matrix((n, k), 1.2 / k ** .5)}
                if name == "bert-dense": tensors["linear.bias"] = draw((n,), .2)
                layers.append((tensors, act))
                entry["files"][f"{i + 2}_Dense/config.json"] = {"in_features": k, "out_features": n, "bias": "linear.bias" in tensors, "activation_function": "torch.nn.modules." + act}
                entry["blobs"][f"{i + 2}_Dense/model.safetensors"] = keep(save(tensors, {"format": "pt"}))
            if name == "bert-dense": entry["dimensions"] = 24
        entry["weights"] = keep(save({k: np.ascontiguousarray(v) for k, v in weights.items()}, {"format": "pt"}))
        entry["vectors"] = []
        by_kind = {"query": next((prefixes[k] for k in ("query", "search_query") if k in prefixes), ""), "passage": next((prefixes[k] for k in ("document", "search_document") if k in prefixes), "")}
        for s in states(model, t, items, by_kind, window):
            v = s[0] if how == "cls" else s[-1] if how == "last" else s.mean(0)
            for tensors, act in layers:
                v = tensors["linear.weight"].astype(np.float64) @ v + tensors.get("linear.bias", np.zeros(1)).astype(np.float64)
                if "Tanh" in act: v = np.tanh(v)
            v = v[:entry.get("dimensions", len(v))]
            entry["vectors"].append([round(float(x), 5) for x in v / np.linalg.norm(v)])
        out[name] = entry
        print(name, file=sys.stderr)
    modern = dict(num_hidden_layers=4, local_attention=16, global_attn_every_n_layers=3, max_position_embeddings=320, pad_token_id=3, cls_token_id=1, sep_token_id=2, **size)
    short = dict(num_hidden_layers=2, max_position_embeddings=64, pad_token_id=1, **size)
    for name, tokens, cls, kind, window, more in (
        ("modernbert-rerank", "modernbert", T.ModernBertForSequenceClassification, T.ModernBertConfig, 320, dict(num_labels=1, classifier_pooling="mean", **modern)),
        ("modernbert-rerank-cls", "modernbert", T.ModernBertForSequenceClassification, T.ModernBertConfig, 64, dict(modern, num_labels=1, classifier_pooling="cls", classifier_bias=True, norm_bias=True, max_position_embeddings=64)),
        ("modernbert-sparse", "modernbert", T.ModernBertForMaskedLM, T.ModernBertConfig, 320, modern),
        ("gte-rerank", "xlmr", T.GteForSequenceClassification, T.GteConfig, 64, dict(num_labels=1, **short)),
        ("gte-sparse", "xlmr", T.GteForMaskedLM, T.GteConfig, 64, short),
    ):
        t = Tokenizer.from_str(json.dumps(words[tokens]["file"]))
        config = kind(vocab_size=t.get_vocab_size(), **more)
        config._attn_implementation = "eager"
        model = cls(config).eval()
        weights = randomize(model)
        entry = {"tokenizer": tokens, "window": window, "pooling": "", "prompts": None, "config": {k: v for k, v in json.loads(config.to_json_string(use_diff=False)).items() if k in (
            "model_type", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "max_position_embeddings", "layer_norm_eps", "norm_eps", "hidden_act", "hidden_activation", "pad_token_id", "vocab_size",
            "type_vocab_size", "local_attention", "rope_parameters", "layer_types", "classifier_pooling", "classifier_activation")}}
        if name == "gte-rerank": entry["config"]["model_type"], weights = "new", gte_names(weights)
        entry["weights"] = keep(save({k: np.ascontiguousarray(v) for k, v in weights.items()}, {"format": "pt"}))
        if "sparse" in name: entry["terms"] = list(terms(model, t, items, window))
        else: entry["config"]["calibration"], entry["pairs"] = pairs(model, t, items, window)
        out[name] = entry
        print(name, file=sys.stderr)
    for file, content in (("rotary.json.gz", json.dumps(out, ensure_ascii=False, separators=(",", ":")).encode()), ("rotary.bin.gz", blob)):
        with gzip.GzipFile(here / file, "wb", mtime=0) as f: f.write(content)

if __name__ == "__main__":
    main()
