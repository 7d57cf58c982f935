"""Times e5-small-v2 on the same texts in ONNX Runtime, in OpenVINO and in our own kernels, one thread each:

    make beside                      # installs what it takes into .cache, and runs this
    make beside ROUNDS=9 LEVELS=avx512,amx

In each round all of them take turns at each shape, so that what else the machine does meets all alike. Times are
processor milliseconds a call, the best round's; a ratio is taken within a round, and the median of the rounds is
shown. Ours are whole calls, from text to vector through the module; the others are given token ids and leave
pooling to the caller, which is not timed. The cosine is to the vector of ONNX Runtime in fp32, the lowest of all
texts. Linux alone: the processor time of another process is read off its clock.

int8 of ONNX Runtime is dynamic quantization with a scale per channel; where the processor has no VNNI weights take
seven bits (reduce_range), as its documentation wants, since its kernels saturate there. int8 of OpenVINO is NNCF's
quantization after training (for transformers), calibrated on 100 texts of these golden files; both are kept in
.cache/models/beside. bf16 runs where the processor has it.
"""
import argparse, gzip, json, os, pathlib, statistics, subprocess, sys, time
import numpy as np
import onnxruntime
import openvino
from tokenizers import Tokenizer

here = pathlib.Path(__file__).parent
cache = pathlib.Path(os.environ.get("CACHE", here.parents[2] / ".cache")) / "models"
checkpoint = cache / "e5-small-v2" / "model.onnx"
SHAPES = (("query of 12 tokens", True, 1, 12), ("passage of 128 tokens", False, 1, 128), ("20 passages of 100 tokens", False, 20, 100))
tokenizer = Tokenizer.from_file(str(cache / "e5-small-v2" / "tokenizer.json"))
tokenizer.no_truncation()
tokenizer.no_padding()
golden = json.load(gzip.open(here / "texts.json.gz"))
flags = next(line for line in open("/proc/cpuinfo") if line.startswith("flags")).split()


def ids(text, query):
    return tokenizer.encode(("query: " if query else "passage: ") + text).ids


def texts_of(query, count, tokens):
    """count texts of golden words, each of exactly so many tokens."""
    words = [w for t in golden if t["text"].isascii() for w in t["text"].split()]
    out, at = [], 0
    for _ in range(count):
        text = ""
        while (n := len(ids(text, query))) < tokens:
            longer = (text + " " + words[at % len(words)]).strip()
            at += 1
            text = longer if len(ids(longer, query)) <= tokens else text + " word" * (tokens - n)
        out.append(text)
    return out


def feed(texts, query):
    rows = np.array([ids(t, query) for t in texts], dtype=np.int64)
    return {"input_ids": rows, "attention_mask": np.ones_like(rows), "token_type_ids": np.zeros_like(rows)}


def vectors(hidden):
    pooled = hidden.mean(axis=1)
    return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)


class Runtime:
    """A session of ONNX Runtime."""

    def __init__(self, path):
        o = onnxruntime.SessionOptions()
        o.intra_op_num_threads = o.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), o, providers=["CPUExecutionProvider"])

    def run(self, case, calls):
        start = time.process_time_ns()
        for _ in range(calls):
            out = self.session.run(None, case["feed"])
        return (time.process_time_ns() - start) / 1e6, out[0]

    def vectors(self, case):
        return vectors(self.run(case, 1)[1])


class Vino(Runtime):
    """A compiled model of OpenVINO."""

    def __init__(self, path, precision):
        self.request = openvino.Core().compile_model(str(path), "CPU", {
            "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": precision,
        }).create_infer_request()

    def run(self, case, calls):
        start = time.process_time_ns()
        for _ in range(calls):
            out = self.request.infer(case["feed"], share_inputs=True, share_outputs=True)
        return (time.process_time_ns() - start) / 1e6, np.array(out[0])


class Ours:
    """The command beside, with kernels of one level."""

    def __init__(self, command, level):
        env = os.environ | {"GOMAXPROCS": "1", "MNEME_SIMD": level}
        self.child = subprocess.Popen([command], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.clock = ~self.child.pid << 3 | 2  # CPU time of that process, see clock_getcpuclockid(3)

    def ask(self, case, calls, show=False):
        request = {"query": case["query"], "texts": case["texts"], "calls": calls, "show": show}
        self.child.stdin.write(json.dumps(request) + "\n")
        self.child.stdin.flush()
        answer = json.loads(self.child.stdout.readline())
        assert answer["tokens"] == [case["tokens"]] * len(case["texts"]), answer["tokens"]
        return answer

    def run(self, case, calls):
        start = time.clock_gettime_ns(self.clock)
        self.ask(case, calls)
        return (time.clock_gettime_ns(self.clock) - start) / 1e6, None

    def vectors(self, case):
        return np.array(self.ask(case, 1, True)["vectors"])

    def close(self):
        self.child.stdin.close()
        self.child.wait()


def kept(name, make):
    """The path of what make writes to the path that it is given, once."""
    folder = cache / "beside"
    folder.mkdir(exist_ok=True)
    if not (path := folder / name).exists():
        part = folder / ("part-" + name)
        print("making", path, file=sys.stderr)
        make(part)
        for beside in folder.glob(part.stem + ".*"):
            beside.rename(folder / beside.name.removeprefix("part-"))
    return path


def runtime_int8(reduce):
    def make(path):
        from onnxruntime.quantization import QuantType, quantize_dynamic
        quantize_dynamic(str(checkpoint), str(path), per_channel=True, reduce_range=reduce, weight_type=QuantType.QInt8)
    return kept("runtime-int8-reduced.onnx" if reduce else "runtime-int8.onnx", make)


def vino_int8():
    def make(path):
        import nncf
        some = [t for t in golden if 20 < len(t["text"]) < 700][:100]
        data = nncf.Dataset(some, lambda t: feed([t["text"]], t["kind"] == "query"))
        model = openvino.Core().read_model(str(checkpoint))
        model = nncf.quantize(model, data, subset_size=len(some), model_type=nncf.ModelType.TRANSFORMER)
        openvino.save_model(model, str(path), compress_to_fp16=False)
    return kept("vino-int8.xml", make)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("command", help="the program of wasm/abitest/beside")
    a.add_argument("--levels", default="", help="instruction sets of ours, separated by commas; the best if none")
    a.add_argument("--rounds", type=int, default=7)
    a.add_argument("--turn", type=float, default=150, help="processor milliseconds of a turn, at least one call")
    a = a.parse_args()

    ours = [Ours(a.command, level) for level in a.levels.split(",")]
    engines = {f"Mneme{' ' + level if level else ''}": o for level, o in zip(a.levels.split(","), ours)}
    first = next(iter(engines))
    reduce = not any("vnni" in f for f in flags)
    baseline = "ONNX Runtime fp32"
    engines[baseline] = Runtime(checkpoint)
    engines["ONNX Runtime int8"] = Runtime(runtime_int8(reduce))
    engines["OpenVINO fp32"] = Vino(checkpoint, "f32")
    if "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        engines["OpenVINO bf16"] = Vino(checkpoint, "bf16")
    engines["OpenVINO int8"] = Vino(vino_int8(), "f32")

    cases = []
    for name, query, count, tokens in SHAPES:
        texts = texts_of(query, count, tokens)
        cases.append({"name": name, "query": query, "tokens": tokens, "texts": texts, "feed": feed(texts, query)})
        assert cases[-1]["feed"]["input_ids"].shape == (count, tokens)
    cosine = {name: min(float((e.vectors(c) * engines[baseline].vectors(c)).sum(axis=1).min()) for c in cases)
              for name, e in engines.items()}

    times = {(name, c["name"]): [] for name in engines for c in cases}
    calls = {}
    for name, e in engines.items():
        for c in cases:
            e.run(c, 1)
            calls[name, c["name"]] = max(1, round(a.turn / e.run(c, 1)[0]))
    for _ in range(a.rounds):
        for c in cases:
            for name, e in engines.items():
                n = calls[name, c["name"]]
                times[name, c["name"]].append(e.run(c, n)[0] / n)
    for o in ours:
        o.close()

    model = next(line for line in open("/proc/cpuinfo") if line.startswith("model name")).split(":")[1].strip()
    print(f"{model}; ONNX Runtime {onnxruntime.__version__}{', weights of 7 bits' if reduce else ''}; "
          f"OpenVINO {openvino.__version__.split('-')[0]}; {a.rounds} rounds\n")
    print("| milliseconds, and as many times", first + "'s |", " | ".join(c["name"] for c in cases), "| cosine to fp32 |")
    print("|---" * (len(cases) + 2) + "|")
    for name in engines:
        cells = []
        for c in cases:
            own, base = times[name, c["name"]], times[first, c["name"]]
            ratio = statistics.median(t / b for t, b in zip(own, base))
            cells.append(f"{min(own):.3g}" + ("" if name == first else f" ({ratio:.2f})"))
        print(f"| {name} |", " | ".join(cells), f"| {cosine[name]:.4f} |")


main()
