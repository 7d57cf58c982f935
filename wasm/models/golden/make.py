"""Makes the golden files with the reference implementations: token ids with
Hugging Face tokenizers, vectors with ONNX Runtime in fp32 (all-MiniLM-L6-v2,
which comes without an ONNX file, with a NumPy encoder in fp32).

    python3 -m venv .cache/venv-golden
    .cache/venv-golden/bin/pip install -r wasm/models/golden/requirements.txt
    wasm/models/fetch.sh && .cache/venv-golden/bin/python wasm/models/golden/make.py

Every text is generated here, from a fixed seed. Files:
    texts.json.gz   [{"kind": "query" | "passage", "text": ...}] x 200
    NAME.f16.gz     vectors of the first texts, float16 little-endian, row-major
    lines.json.gz   10,000 lines
    ids.u16.gz      of each line: count, then its token ids with [CLS] and [SEP], uint16 little-endian
"""
import gzip, json, math, os, pathlib, random, sys, unicodedata
import numpy as np
import onnxruntime
from tokenizers import Tokenizer

here = pathlib.Path(__file__).parent
cache = pathlib.Path(os.environ.get("CACHE", here.parents[2] / ".cache")) / "models"
rng = random.Random(20240607)

NOUNS = "server database river memory engine harbour theorem patient contract garden battery glacier orchestra vaccine telescope committee recipe compiler index passenger festival election forest bridge molecule archive".split()
NAMES = "Amelia Bogdan Chinwe Dmitri Eleni Farid Giulia Hiroshi Ingrid João Katarzyna Łukasz Mireille Nguyễn Øystein Priya Quentin Renée Søren Thị Uğur Věra Wojciech Xóchitl Yūki Zoë".split()
VERBS = "measured repaired described rejected compared translated delayed encrypted painted sold inherited crossed rebuilt indexed forgot explained".split()
PLACES = "Lyon Kraków São Paulo Reykjavík Nairobi Québec Đà Nẵng Zürich Malmö İzmir Valparaíso Dún Laoghaire Ålesund Ōsaka".split()
ADJ = "small green unexpected distributed ancient noisy reliable frozen parallel transparent bitter electronic rural immutable".split()
SCRIPTS = {  # samples in many scripts, written for this file
    "el": "Η γρήγορη αλεπού διαβάζει το βιβλίο στη βιβλιοθήκη της πόλης.", "ru": "Быстрый поиск по документам начинается с хорошего индекса.",
    "uk": "Їжак і ґудзик лежать у кошику біля вікна.", "ar": "اللُّغَةُ العَرَبِيَّةُ جميلة، والبحث فيها سريع.", "he": "חִיפּוּשׂ מהיר במסמכים דורש אינדקס טוב.",
    "hi": "खोज इंजन हिन्दी में भी काम करता है।", "bn": "বাংলা ভাষায় অনুসন্ধান দ্রুত হয়।", "ta": "தமிழ் உரையில் தேடல் எளிது.", "th": "การค้นหาเอกสารภาษาไทยต้องตัดคำ",
    "ka": "ქართული ტექსტის ძებნა სწრაფია.", "hy": "Հայերեն տեքստի որոնումը արագ է։", "am": "የአማርኛ ጽሑፍ ፍለጋ ፈጣን ነው።", "ko": "한국어 문서 검색은 빠르고 정확합니다.", "ja": "日本語の文書検索は速いです。カタカナとひらがなも。ガギグゲゴ",
    "zh": "中文文档搜索需要切分汉字，速度很快。", "vi": "Tìm kiếm tài liệu tiếng Việt có dấu rất nhanh.", "tr": "İstanbul'da ılık bir gün; ışık ve IŞIK, ĞÜŞÖÇ.", "pl": "Zażółć gęślą jaźń, a potem znajdź dokument.", "cs": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "is": "Kæmi ný öxi hér, ykist þjófum nú bæði víl og ádrepa.", "my": "မြန်မာစာ ရှာဖွေမှု", "km": "ការស្វែងរកឯកសារ", "si": "සිංහල සෙවීම", "bo": "བོད་ཡིག་འཚོལ་བ།", "mn": "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ", "chr": "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "got": "𐌲𐌿𐍄𐌹𐍃𐌺",
}
EMOJI = "😀 😂 👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇫🇷 ❤️ ☃️ 1️⃣ 🧑🏿‍🚀 ™️ ♥ ✈︎ 🤷‍♀️".split()
CODE = [
    "func (q *queue) take(ctx context.Context) (*job, error) { return q.jobs[0], nil }", "SELECT id, name FROM users WHERE email LIKE '%@example.org' AND age >= 21;",
    "if (x != NULL && *x->next == 0x1F) { free(x); x = NULL; }", "def f(a, *, b=None, **kw) -> dict[str, int]: return {k: v**2 for k, v in kw.items()}",
    "ERR_CONN_RESET at 10.0.0.1:8443 (v1.2.3-rc.4+build.5)", "curl -s -H 'Authorization: Bearer sk-***' https://api.example.org/v1/search?q=a%20b&top_k=10",
    "git commit -m \"fix: don't panic\" --author='Zoë <zoe@example.org>'", "<div class=\"note\">5 &lt; 6 &amp;&amp; 7 > 3</div>", "\\frac{\\partial u}{\\partial t} = \\alpha \\nabla^2 u", "{\"a\":[1,2.5e-3,null,true],\"b\":{\"c\":\"\\u00e9\"}}",
    "[MASK] tokens and [SEP] in text, [CLS]x[PAD]y, [UNK], [mask] and [ SEP ]", "##ing ## ### #hash ##hash", "C:\\Users\\Zoë\\Documents\\r\u00e9sum\u00e9.docx",
]

def sentence():
    n = lambda: rng.choice(NOUNS)
    return rng.choice([
        lambda: f"{rng.choice(NAMES)} {rng.choice(VERBS)} the {rng.choice(ADJ)} {n()} in {rng.choice(PLACES)} on {rng.randint(1, 28)} May {rng.randint(1850, 2030)}.",
        lambda: f"Why was the {n()} {rng.choice(VERBS)} by a {rng.choice(ADJ)} {n()}?",
        lambda: f"The {rng.choice(ADJ)} {n()} costs ${rng.randint(1, 9999)}.{rng.randint(0, 99):02d}, about {rng.randint(1, 99)}% more than a {n()}.",
        lambda: f"\"{n().title()},\" said {rng.choice(NAMES)}, \"isn't a {n()}; it's {rng.choice(ADJ)}—or was.\"",
        lambda: f"{rng.choice(NAMES)}'s {n()}-{n()} ratio: {rng.random():.3f} (n={rng.randint(2, 500)}).",
    ])()

def noise(k):
    return "".join(chr(rng.choice(POINTS)) for _ in range(k))

POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
BLOCKS = [(0x20, 0x7F), (0xA0, 0x250), (0x250, 0x370), (0x300, 0x370), (0x370, 0x400), (0x400, 0x530), (0x590, 0x600), (0x600, 0x700), (0x900, 0xE00), (0xE00, 0x1000), (0x1000, 0x1200), (0x1200, 0x1400), (0x1780, 0x1900), (0x1E00, 0x2000), (0x2000, 0x2070), (0x2070, 0x2200), (0x2200, 0x2600), (0x2600, 0x2C00), (0x2E00, 0x2E80), (0x3000, 0x3100), (0x3100, 0x3400), (0x4E00, 0x9FFF), (0xA000, 0xAC00), (0xAC00, 0xD7B0), (0xF900, 0xFB50), (0xFB50, 0xFE00), (0xFE00, 0x10000), (0x10000, 0x11000), (0x11000, 0x12000), (0x16000, 0x17000), (0x1D000, 0x1D800), (0x1E000, 0x1F000), (0x1F000, 0x1FB00), (0x2F800, 0x2FA20), (0, 0x20)]

def from_block():
    lo, hi = rng.choice(BLOCKS)
    return "".join(chr(rng.randrange(lo, hi)) for _ in range(rng.randint(1, 12))).encode("utf-8", "ignore").decode()

def mangle(s):
    """Adds combining marks, other normal forms, case, controls and spaces of all kinds."""
    kind = rng.randrange(7)
    if kind == 0: return unicodedata.normalize("NFD", s)
    if kind == 1: return unicodedata.normalize("NFKD", s).upper()
    if kind == 2: return "".join(c + (chr(rng.randrange(0x300, 0x370)) if rng.random() < .2 else "") for c in s)
    if kind == 3: return s.replace(" ", rng.choice(["\t", "\u00a0", "\u3000", "\u2009", "\r\n", "\u200b", "\u2028", "\x85", "\ufeff", "  "]))
    if kind == 4: return "".join(c + (chr(rng.choice([0, 1, 8, 0x7F, 0x9F, 0xAD, 0x200D, 0x202E, 0xFFFD, 0xE000])) if rng.random() < .1 else "") for c in s)
    if kind == 5: return s.upper()
    return s.replace(" ", "")

def line(i):
    kind = i % 10
    if kind < 3: return sentence()
    if kind == 3: return mangle(rng.choice(list(SCRIPTS.values()) + [sentence()]))
    if kind == 4: return " ".join(rng.choice(list(SCRIPTS.values())) for _ in range(rng.randint(1, 2))) + rng.choice(["", " ", rng.choice(EMOJI)])
    if kind == 5: return rng.choice(CODE) + rng.choice(["", " ", "\n"]) + rng.choice(CODE)[: rng.randint(0, 40)]
    if kind == 6: return " ".join(from_block() for _ in range(rng.randint(1, 6)))
    if kind == 7: return noise(rng.randint(1, 24))
    if kind == 8: return rng.choice([lambda: rng.choice(NOUNS) * rng.randint(1, 30), lambda: "".join(rng.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(rng.choice([5, 30, 99, 100, 101, 140]))),
        lambda: "é" * rng.choice([99, 100, 101]), lambda: "e\u0301" * rng.choice([50, 100, 101]), lambda: "字" * rng.randint(1, 40), lambda: "".join(rng.choice("!?.,;:-_()[]{}'\"`~@#$%^&*+=<>/\\|") for _ in range(rng.randint(1, 30)))])()
    return " ".join([mangle(sentence()), rng.choice(EMOJI), from_block(), rng.choice(CODE)[: rng.randint(0, 30)]])

def texts():
    fixed = ["", " ", "a", "\u0000", "?", "😀", "\u200b\u200b", "the", "THE", "cafe", "café", "word " * 700, "字" * 600, "x" * 5000, "\n".join(CODE), ". " * 600, "hello world", "How do I reset the server?", "The capital of France is Paris."]
    out = fixed + list(SCRIPTS.values()) + CODE + [" ".join(EMOJI)]
    while len(out) < 130: out.append(sentence())
    while len(out) < 165: out.append(" ".join(sentence() for _ in range(rng.randint(3, 12))))
    while len(out) < 175: out.append(" ".join(sentence() for _ in range(rng.randint(20, 60))))
    while len(out) < 190: out.append(line(rng.choice([3, 4, 5, 9])))
    while len(out) < 200: out.append(from_block())
    rng.shuffle(out)
    return [{"kind": "query" if i % 4 == 0 else "passage", "text": t} for i, t in enumerate(out)]

def write(name, data):
    with gzip.GzipFile(here / name, "wb", mtime=0) as f:
        f.write(data)

def tokenizer(name):
    t = Tokenizer.from_file(str(cache / name / "tokenizer.json"))
    t.no_padding()
    t.no_truncation()
    return t

def prefixes(name):
    p = cache / name / "config_sentence_transformers.json"
    prompts = json.loads(p.read_text()).get("prompts", {}) if p.exists() else {}
    return {"query": prompts.get("query", ""), "passage": prompts.get("passage", "")}

def erf_gelu(u): return u * 0.5 * (1 + np.vectorize(math.erf, otypes=[np.float32])(u / math.sqrt(2)))

class NumpyBert:
    """BERT in fp32 from a safetensors checkpoint."""
    def __init__(self, folder):
        from safetensors.numpy import load_file
        plain = lambda name: name.removeprefix("bert.").replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
        self.w = {plain(name): w for name, w in load_file(folder / "model.safetensors").items()}
        self.c = json.loads((folder / "config.json").read_text())
    def norm(self, x, name):
        m = x.mean(-1, keepdims=True)
        return (x - m) / np.sqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-12) * self.w[name + ".weight"] + self.w[name + ".bias"]
    def lin(self, x, name): return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]
    def __call__(self, ids, types=0):
        w, h = self.w, self.c["num_attention_heads"]
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: len(ids)] + w["embeddings.token_type_embeddings.weight"][types]
        x = self.norm(x, "embeddings.LayerNorm")
        for i in range(self.c["num_hidden_layers"]):
            p = f"encoder.layer.{i}."
            q, k, v = (self.lin(x, p + "attention.self." + n).reshape(len(ids), h, -1).transpose(1, 0, 2) for n in ("query", "key", "value"))
            s = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
            s = np.exp(s - s.max(-1, keepdims=True)); s /= s.sum(-1, keepdims=True)
            x = self.norm(x + self.lin((s @ v).transpose(1, 0, 2).reshape(len(ids), -1), p + "attention.output.dense"), p + "attention.output.LayerNorm")
            u = self.lin(x, p + "intermediate.dense")
            x = self.norm(x + self.lin(erf_gelu(u), p + "output.dense"), p + "output.LayerNorm")
        return x

def vectors(name, items, window, cls):
    t, pre, folder = tokenizer(name), prefixes(name), cache / name
    if (folder / "model.onnx").exists():
        o = onnxruntime.SessionOptions(); o.intra_op_num_threads = 2
        session = onnxruntime.InferenceSession(str(folder / "model.onnx"), o)
        def run(ids):
            a = np.array([ids], dtype=np.int64)
            return session.run(None, {"input_ids": a, "attention_mask": np.ones_like(a), "token_type_ids": np.zeros_like(a)})[0][0]
    else:
        model = NumpyBert(folder)
        run = lambda ids: model(np.array(ids))
    out = []
    for item in items:
        ids = t.encode(pre[item["kind"]] + item["text"]).ids
        if len(ids) > window: ids = ids[: window - 1] + [ids[-1]]
        s = run(ids)
        v = s[0] if cls else s.mean(0)
        out.append(v / np.linalg.norm(v))
    return np.array(out, dtype=np.float16)

def main():
    items = texts()
    write("texts.json.gz", json.dumps(items, ensure_ascii=False).encode("utf-8"))
    for name, n, window, cls in (("e5-small-v2", 200, 512, False), ("bge-small-en-v1.5", 40, 512, True), ("all-MiniLM-L6-v2", 40, 256, False)):
        write(name + ".f16.gz", vectors(name, items[:n], window, cls).tobytes())
        print(name, "done", file=sys.stderr)
    lines = [line(i) for i in range(10000)]
    t, packed = tokenizer("e5-small-v2"), []
    for s in lines:
        ids = t.encode(s).ids
        packed += [len(ids)] + ids
    write("lines.json.gz", json.dumps(lines, ensure_ascii=False).encode("utf-8"))
    write("ids.u16.gz", np.array(packed, dtype="<u2").tobytes())

if __name__ == "__main__":
    main()
