"""Makes colbert.json.gz and colbert.bin.gz: small checkpoints of random weights that compare
the states of two texts by MaxSim, as PyLate and as the library of ColBERT's makers write them,
and what PyLate answers with them. The form is that of rotary.py; pairs hold the mean of the
query's largest cosines, calibrated.

    python3 -m venv .cache/venv-colbert
    .cache/venv-colbert/bin/pip install -r wasm/models/golden/requirements-colbert.txt
    .cache/venv-colbert/bin/python wasm/models/golden/colbert.py
"""
import gzip, json, pathlib, sys, tempfile
import numpy as np
import torch
import transformers as T
from pylate import models
from safetensors.numpy import load_file, save
from tokenizers import Tokenizer
from rotary import QUERIES, TEXTS, load, matrix, randomize

here = pathlib.Path(__file__).parent
WIDTH = 32 # of a projected state

def tokenizer(file, folder):
    names = {t["content"] for t in file["added_tokens"]}
    pick = lambda *of: next(x for x in of if x in names)
    T.PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(file)), pad_token=pick("[PAD]", "<pad>"), unk_token=pick("[UNK]", "<unk>"), cls_token=pick("[CLS]", "<s>"),
        sep_token=pick("[SEP]", "</s>"), mask_token=pick("[MASK]", "<mask>")).save_pretrained(folder)

def pairs(model, items):
    raw = []
    for i, item in enumerate(items):
        query = QUERIES[i % len(QUERIES)]
        q = torch.tensor(model.encode([query], is_query=True)[0])
        d = torch.tensor(model.encode([item["text"]], is_query=False)[0])
        raw.append((query, item["text"], float((q @ d.T).max(1).values.double().mean())))
    scores = np.array([x[2] for x in raw])
    shift, width = float(scores.mean()), float(scores.std())
    return {"scale": 1 / width, "bias": -shift / width}, [[q, d, round(float(1 / (1 + np.exp(-(x - shift) / width))), 5)] for q, d, x in raw]

def main():
    items, words = load("texts.json.gz")[:TEXTS], load("tokenizers.json.gz")["tokenizers"]
    for item in items: item["text"] = item["text"].strip() # as sentence-transformers does
    torch.manual_seed(1) # poolers, which nothing reads
    out, blob = {}, b""
    def keep(b):
        nonlocal blob
        blob += b
        return [len(blob) - len(b), len(blob)]
    size = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, bos_token_id=None, eos_token_id=None)
    for name, tokens, kind, more, settings in (
        # filled up and not attended to, with layers that see all and layers that see what is near
        ("pylate-modernbert", "modernbert", T.ModernBertConfig, dict(size, num_hidden_layers=4, local_attention=32, global_attn_every_n_layers=3, max_position_embeddings=128, pad_token_id=3, cls_token_id=1, sep_token_id=2),
            dict(query_length=16, document_length=96)),
        ("pylate-xlmr", "xlmr", T.XLMRobertaConfig, dict(size, max_position_embeddings=82, pad_token_id=1, type_vocab_size=1), dict(query_length=24, document_length=48, attend_to_expansion_tokens=True)),
        ("pylate-roberta", "roberta", T.RobertaConfig, dict(size, max_position_embeddings=66, pad_token_id=1, type_vocab_size=1),
            dict(query_length=20, document_length=64, do_query_expansion=False, query_prefix="", document_prefix="", skiplist_words=[])),
        ("stanford-bert", "bert_cased", T.BertConfig, dict(size, max_position_embeddings=64, pad_token_id=0), None),
    ):
        file = json.loads(json.dumps(words[tokens]["file"]))
        if settings is None: # its marks are pieces that no text has
            vocab = file["model"]["vocab"]
            vocab["[unused0]"], vocab["[unused1]"] = vocab.pop("Õ"), vocab.pop("Ş")
        config = kind(vocab_size=Tokenizer.from_str(json.dumps(file)).get_vocab_size(), **more)
        bare = T.AutoModel.from_config(config, attn_implementation="eager", **({} if kind is T.ModernBertConfig else {"add_pooling_layer": False})).eval()
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            tokenizer(file, folder / "bare")
            bare.save_pretrained(folder / "bare")
            at = folder / "bare"
            if settings is None: # the makers' own form
                weights = {"bert." + k: v for k, v in randomize(bare).items()}
                weights["linear.weight"] = matrix((WIDTH, 64), 1.2 / 8)
                (at / "model.safetensors").write_bytes(save(weights, {"format": "pt"}))
                wrote = json.loads((at / "config.json").read_text())
                wrote["architectures"] = ["HF_ColBERT"]
                (at / "config.json").write_text(json.dumps(wrote))
                (at / "artifact.metadata").write_text(json.dumps({"query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_maxlen": 32, "doc_maxlen": 48, "attend_to_mask_tokens": False, "mask_punctuation": True, "similarity": "cosine", "dim": WIDTH}))
            else:
                model = models.ColBERT(str(at), device="cpu", embedding_size=WIDTH, **settings)
                randomize(model[0].auto_model)
                model[1].linear.weight.data = torch.tensor(matrix((WIDTH, 64), 1.2 / 8).astype(np.float32))
                at = folder / "late"
                model.save(str(at))
            model = models.ColBERT(str(at), device="cpu", model_kwargs={"attn_implementation": "eager"})
            config = json.loads((at / "config.json").read_text())
            config["calibration"], found = pairs(model, items)
            half = lambda p: save({k: np.ascontiguousarray(v.astype(np.float16)) for k, v in load_file(p).items()}, {"format": "pt"})
            json_of = lambda p: json.loads((at / p).read_text())
            out[name] = {"tokenizer": "", "window": model.document_length, "pooling": "", "prompts": None, "config": config, "weights": keep(half(at / "model.safetensors")), "blobs": {}, "pairs": found,
                "files": {p: json_of(p) for p in ("tokenizer.json", "modules.json", "config_sentence_transformers.json", "sentence_bert_config.json", "1_Dense/config.json", "artifact.metadata") if (at / p).exists()}}
            if settings is not None: out[name]["blobs"]["1_Dense/model.safetensors"] = keep(half(at / "1_Dense" / "model.safetensors"))
        print(name, file=sys.stderr)
    for file, content in (("colbert.json.gz", json.dumps(out, ensure_ascii=False, separators=(",", ":")).encode()), ("colbert.bin.gz", blob)):
        with gzip.GzipFile(here / file, "wb", mtime=0) as f: f.write(content)

if __name__ == "__main__":
    main()
