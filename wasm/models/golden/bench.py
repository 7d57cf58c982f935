"""Times e5-small-v2 in ONNX Runtime (fp32, one thread) on the shapes of
`go test ./wasm/host -bench .`: wall and processor milliseconds a call.

    .cache/venv-golden/bin/python wasm/models/golden/bench.py
"""
import os, pathlib, time
import numpy as np
import onnxruntime

cache = pathlib.Path(os.environ.get("CACHE", pathlib.Path(__file__).parents[3] / ".cache")) / "models"
o = onnxruntime.SessionOptions()
o.intra_op_num_threads = o.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(str(cache / "e5-small-v2" / "model.onnx"), o)
for name, rows, tokens in (("Query", 1, 12), ("Passage", 1, 128), ("Passages", 20, 100)):
    ids = np.full((rows, tokens), 2773, dtype=np.int64)
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    session.run(None, feed)
    n, wall, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < 2:
        session.run(None, feed)
        n += 1
    print(f"{name:9} {(time.perf_counter() - wall) / n * 1e3:8.2f} ms {(time.process_time() - cpu) / n * 1e3:8.2f} cpu-ms")
