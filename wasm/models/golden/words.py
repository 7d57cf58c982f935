"""Makes tokenizers.json.gz: small tokenizers of every kind that wasm/tokenizer reads,
trained and run by the reference implementation, Hugging Face tokenizers. Its table of
replacements is SentencePiece's nmt_nfkc, the one of XLM-R, taken out of a model that
SentencePiece trains here.

    .cache/venv-golden/bin/pip install -r wasm/models/golden/requirements.txt sentencepiece==0.2.3
    .cache/venv-golden/bin/python wasm/models/golden/words.py

    {"lines":      further lines, in languages that lines.json.gz has not
     "tokenizers": {NAME: {"file": tokenizer.json,
                           "sums": of each four lines of lines.json.gz and of these, CRC-32 of their ids as uint32
                                   little-endian, each line's behind their number, the low 16 bits
                           "frames": [{"a": text, "b": text or null, "ids": with special tokens, "types": ...}]}}}
"""
import gzip, io, json, os, pathlib, random, struct, sys, zlib
os.environ["RAYON_NUM_THREADS"] = "1"  # training is the same every time

here = pathlib.Path(__file__).parent
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
import sentencepiece

rng = random.Random(20251127)
LANGUAGES = {  # written for this file; lines.json.gz has English and the languages of make.py
    "de": "Der Vertrag über die Wartung der Aufzüge läuft am dreißigsten Juni aus.", "fr": "L'été dernier, nous avons réparé l'œuvre abîmée du musée.",
    "es": "¿Dónde está la llave del almacén? ¡Mañana llegan los paquetes!", "pt": "A reunião começa às nove; não esqueça as anotações.",
    "it": "Perché la città è più fredda quando c'è vento dal lago?", "nl": "De fietsenstalling naast het station gaat om zes uur 's ochtends open.",
    "sv": "Båten går från hamnen på södra ön klockan åtta i kväll.", "fi": "Työpöydällä on yhä kesäyön hämärässä luettu kirja.",
    "hu": "Az őszi szüret után üvegekbe töltik a gyümölcsízt.", "ro": "Țara își așteaptă oaspeții în fiecare toamnă.",
    "et": "Õhtul sõidab viimane buss küla äärde.", "lt": "Šiąnakt ąžuolų giraitėje girdėjosi žąsys.",
    "sw": "Mwalimu alifika shuleni mapema asubuhi na vitabu vipya.", "id": "Perpustakaan itu buka setiap hari kecuali hari Minggu.",
    "tl": "Nagluto ang kapitbahay ng sabaw para sa maysakit.", "eu": "Etxeko giltza mahai gainean utzi dut gaur goizean.",
    "cy": "Mae'r trên olaf yn gadael yr orsaf am hanner nos.", "ur": "کتب خانہ ہر روز صبح نو بجے کھلتا ہے۔",
    "fa": "کتابخانه هر روز ساعت نُه باز می‌شود.", "ne": "पुस्तकालय हरेक बिहान नौ बजे खुल्छ।", "kk": "Кітапхана күн сайын сағат тоғызда ашылады.",
    "az": "Kitabxana hər gün saat doqquzda açılır.", "yi": "די ביבליאָטעק עפֿנט זיך יעדן טאָג.", "lo": "ຫ້ອງສະໝຸດເປີດທຸກມື້",
}

def extra(n):
    words = {name: text.split() for name, text in LANGUAGES.items()}
    out = list(LANGUAGES.values())
    while len(out) < n:
        name = rng.choice(list(LANGUAGES))
        some = [rng.choice(words[name]) for _ in range(rng.randint(2, 9))]
        if rng.random() < .2: some.append(rng.choice(words[rng.choice(list(LANGUAGES))]))
        out.append(rng.choice([" ", " ", " ", "  ", "\t", " - ", "\n\n", "\u00a0"]).join(some) + rng.choice(["", ".", "?!", " …", " 12,5 %", "\r\n   "]))
    return out

def charsmap(lines):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter([l for l in lines if l.strip()][:2000]), model_writer=model, vocab_size=1000, hard_vocab_limit=False,
        normalization_rule_name="nmt_nfkc", minloglevel=2, character_coverage=.98)
    def field(b, number):  # of a protocol buffer
        at = 0
        def varint():
            nonlocal at
            v = s = 0
            while True:
                v |= (b[at] & 127) << s; s += 7; at += 1
                if b[at - 1] < 128: return v
        while at < len(b):
            key = varint()
            if key & 7 == 2:
                n = varint()
                if key >> 3 == number: return b[at:at + n]
                at += n
            elif key & 7 == 0: varint()
            else: at += 4 if key & 7 == 5 else 8
    return field(field(model.getvalue(), 3), 2)

GPT2 = dict(alphabet=pre_tokenizers.ByteLevel.alphabet())
QWEN = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
CL100K = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
FEW = 1500  # lines of languages alone: a Unigram model has every character that it was trained on
BYTES = [f"<0x{b:02X}>" for b in range(256)]

def trained(t, trainer, lines):
    t.train_from_iterator(lines, trainer)
    return t

def bert_cased(lines, _):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    t.normalizer = normalizers.BertNormalizer(lowercase=False)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trained(t, trainers.WordPieceTrainer(vocab_size=700, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], limit_alphabet=300), lines)
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return t

def mpnet(lines, _):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trained(t, trainers.WordPieceTrainer(vocab_size=700, special_tokens=["<s>", "<pad>", "</s>", "[UNK]"], limit_alphabet=300), lines)
    t.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return t

def roberta(lines, _):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained(t, trainers.BpeTrainer(vocab_size=700, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], initial_alphabet=GPT2["alphabet"]), lines)
    t.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    return t

def xlmr(lines, chars):
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.Precompiled(chars), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    trained(t, trainers.UnigramTrainer(vocab_size=1000, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], unk_token="<unk>"), lines[-FEW:])
    t.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return t

def modernbert(lines, _):
    t = Tokenizer(models.BPE())
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained(t, trainers.BpeTrainer(vocab_size=700, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"], initial_alphabet=GPT2["alphabet"]), lines)
    t.add_tokens([AddedToken(" " * n, normalized=True) for n in range(2, 6)] + [AddedToken("|||MAIL|||", normalized=False), AddedToken("Café", single_word=True)])
    t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    return t

def qwen(lines, _):
    t = Tokenizer(models.BPE(ignore_merges=True))
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(QWEN), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    trained(t, trainers.BpeTrainer(vocab_size=700, initial_alphabet=GPT2["alphabet"]), lines)
    t.add_special_tokens(["<|endoftext|>"])
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(single="$A <|endoftext|>", pair="$A $B:1 <|endoftext|>:1", special_tokens=[("<|endoftext|>", t.token_to_id("<|endoftext|>"))])])
    return t

def cl100k(lines, _):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(CL100K), "removed", invert=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return trained(t, trainers.BpeTrainer(vocab_size=700, initial_alphabet=GPT2["alphabet"]), lines)

def gemma(lines, _):
    t = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    t.normalizer = normalizers.Replace(" ", "▁")
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    trained(t, trainers.BpeTrainer(vocab_size=900, special_tokens=["<pad>", "<eos>", "<bos>", "<unk>"] + BYTES, limit_alphabet=200, max_token_length=16), lines[::4])
    t.post_processor = processors.TemplateProcessing(single="<bos> $A <eos>", pair="<bos> $A <eos> <bos>:1 $B:1 <eos>:1", special_tokens=[("<bos>", 2), ("<eos>", 1)])
    return t

def llama(lines, _):
    """SentencePiece as Unigram with bytes, the sign before the first word alone."""
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Prepend("▁")])
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    trained(t, trainers.UnigramTrainer(vocab_size=1000, special_tokens=["<unk>", "<s>", "</s>"] + BYTES, unk_token="<unk>", max_piece_length=8), lines[-FEW:])
    state = json.loads(t.to_str())
    state["model"]["byte_fallback"] = True
    return Tokenizer.from_str(json.dumps(state))

def odd(lines, _):
    """What few models have: affixes of words, unknown characters one by one, digits alone."""
    t = Tokenizer(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##", end_of_word_suffix="</w>", fuse_unk=False))
    t.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip(), normalizers.Replace(Regex(r"(?i:k)[aeiou]\d?"), "K")])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Punctuation("merged_with_next")])
    return trained(t, trainers.BpeTrainer(vocab_size=700, special_tokens=["[UNK]"], continuing_subword_prefix="##", end_of_word_suffix="</w>", limit_alphabet=120), lines)

def words(lines, _):
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.normalizer = normalizers.NFD()
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.Split(Regex(r"[\s\p{P}]"), "contiguous")])
    return trained(t, trainers.WordLevelTrainer(vocab_size=400, special_tokens=["[UNK]"]), lines)

FRAMES = [("a small river", None), ("", None), ("a small river", "the <mask> committee"), ("<s>x</s>", "[SEP] y <|endoftext|>")]

def main():
    lines = json.loads(gzip.decompress((here / "lines.json.gz").read_bytes()))
    more = extra(FEW)
    chars = charsmap(more)
    corpus = [l for l in lines[::2] + more if len(l) < 400]
    out = {}
    for make in (bert_cased, mpnet, roberta, xlmr, modernbert, qwen, cl100k, gemma, llama, odd, words):
        t = make(corpus, chars)
        sums = []
        for i in range(0, len(lines + more), 4):
            packed = b""
            for line in (lines + more)[i:i + 4]:
                ids = t.encode(line, add_special_tokens=False).ids
                packed += struct.pack(f"<{1 + len(ids)}I", len(ids), *ids)
            sums.append(zlib.crc32(packed) & 0xFFFF)
        frames = []
        for a, b in FRAMES:
            e = t.encode(a, b)
            frames.append({"a": a, "b": b, "ids": e.ids, "types": e.type_ids})
        out[make.__name__] = {"file": json.loads(t.to_str()), "sums": sums, "frames": frames}
        print(make.__name__, t.get_vocab_size(), file=sys.stderr)
    with gzip.GzipFile(here / "tokenizers.json.gz", "wb", mtime=0) as f:
        f.write(json.dumps({"lines": more, "tokenizers": out}, ensure_ascii=False, separators=(",", ":")).encode())

if __name__ == "__main__":
    main()
