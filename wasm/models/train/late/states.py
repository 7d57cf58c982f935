"""Token states of the embedder at one layer, computed once and kept on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from tokenizers import Tokenizer
from tqdm import tqdm

PREFIX = {"query": "query: ", "passage": "passage: "}
LEAD = 3  # [CLS], the word of the prefix and its colon
BATCH_TOKENS = 2048


class Encoder:
    """The embedder's ONNX checkpoint with the states of one layer as an output."""

    def __init__(self, folder: Path, layer: int, cache: Path, threads: int = 1):
        self.layer = layer
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(512)
        graph = cache / f"{folder.name}.layer{layer}.onnx"
        self._state = f"/encoder/layer.{layer - 1}/output/LayerNorm/Add_1_output_0"
        if not graph.exists():
            model = onnx.load(folder / "model.onnx")
            shape = ["batch", "pieces", hidden_size(model)]
            model.graph.output.append(onnx.helper.make_tensor_value_info(self._state, onnx.TensorProto.FLOAT, shape))
            cache.mkdir(parents=True, exist_ok=True)
            partial = graph.with_suffix(".partial")
            onnx.save(model, partial)
            partial.rename(graph)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(graph), options, ["CPUExecutionProvider"])

    def ids(self, role: str, texts: list[str]) -> list[list[int]]:
        """Word pieces of each text with its role's prefix, [CLS] and [SEP]."""
        return [e.ids for e in self.tokenizer.encode_batch([PREFIX[role] + text for text in texts])]

    def run(self, batch: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
        """States and unit vectors of texts of equal length: F32 [n, pieces, hidden], [n, hidden]."""
        ids = np.array(batch, np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        states, last = self._session.run([self._state, "last_hidden_state"], feed)
        vectors = last.mean(1)
        return states, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def hidden_size(model: onnx.ModelProto) -> int:
    """The width of the checkpoint's states."""
    return next(len_of(t) for t in model.graph.initializer if t.name.endswith("embeddings.LayerNorm.weight"))


def len_of(tensor: onnx.TensorProto) -> int:
    return tensor.dims[0]


class States:
    """Encoded texts: word pieces and states one after another, and unit vectors.

    A text's own pieces leave out [CLS], the prefix and [SEP].
    """

    def __init__(self, path: Path):
        self._offsets = np.load(f"{path}.offsets.npy")
        self._ids = np.load(f"{path}.ids.npy")
        self._states = np.load(f"{path}.states.npy", mmap_mode="r")
        self.vectors = np.load(f"{path}.vectors.npy")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def ids(self, i: int) -> np.ndarray:
        """Own pieces of text i, [pieces]."""
        return self._ids[self._offsets[i] + LEAD : self._offsets[i + 1] - 1].astype(np.int64)

    def states(self, i: int) -> np.ndarray:
        """States of the own pieces of text i, F32 [pieces, hidden]."""
        return np.asarray(self._states[self._offsets[i] + LEAD : self._offsets[i + 1] - 1], np.float32)

    def sample(self, step: int) -> np.ndarray:
        """Every step-th state, F32 [n, hidden]."""
        return np.asarray(self._states[::step], np.float32)


def encode(encoder: Encoder, role: str, texts: list[str], path: Path) -> States:
    """Encodes texts, or reads what an earlier run left at path; float16 on disk."""
    if not Path(f"{path}.offsets.npy").exists():
        pieces = encoder.ids(role, texts)
        lengths = np.array([len(p) for p in pieces])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        states = vectors = None
        order = np.argsort(lengths, kind="stable")
        done = 0
        with tqdm(total=int(offsets[-1]), desc=path.name, unit=" pieces", unit_scale=True) as bar:
            while done < len(order):
                batch = [order[done]]
                length = lengths[order[done]]
                done += 1
                while done < len(order) and lengths[order[done]] == length and (len(batch) + 1) * length <= BATCH_TOKENS:
                    batch.append(order[done])
                    done += 1
                h, v = encoder.run([pieces[i] for i in batch])
                if states is None:
                    states = np.lib.format.open_memmap(f"{path}.states.npy", "w+", np.float16, (int(offsets[-1]), h.shape[2]))
                    vectors = np.zeros((len(texts), h.shape[2]), np.float32)
                for k, i in enumerate(batch):
                    states[offsets[i] : offsets[i + 1]] = h[k]
                vectors[batch] = v
                bar.update(int(length) * len(batch))
        states.flush()
        np.save(f"{path}.ids.npy", np.concatenate([np.array(p, np.uint16) for p in pieces]))
        np.save(f"{path}.vectors.npy", vectors)
        np.save(f"{path}.offsets.npy", offsets)  # last: it says that the rest is whole
    return States(path)
