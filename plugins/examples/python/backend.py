#!/usr/bin/env python3
"""An embedder of BERT's family from an ONNX file, run by ONNX Runtime.

    backend.py FOLDER

FOLDER holds model.onnx and tokenizer.json, and config_sentence_transformers.json
with what the model wants before queries and passages.
"""

import hashlib
import json
import os
import sys

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

import mneme_sdk
from mneme_sdk import pb

WINDOW = 512
STEP = 8  # texts run at once: between steps a caller may leave


class Encoder(mneme_sdk.Model):
    def __init__(self, folder):
        weights, tokenizer, settings = (os.path.join(folder, name) for name in ("model.onnx", "tokenizer.json", "config_sentence_transformers.json"))
        with open(settings, encoding="utf-8") as f:
            prompts = json.load(f)["prompts"]
        self.prefix = {True: prompts["query"], False: prompts["passage"]}
        self.cut, self.whole = (Tokenizer.from_file(tokenizer) for _ in range(2))
        for t in (self.cut, self.whole):
            t.no_padding()
            t.no_truncation()
        self.cut.enable_truncation(WINDOW)
        # Threads that wait by spinning would take the processor from the server.
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = onnxruntime.InferenceSession(weights, options, providers=onnxruntime.get_available_providers())
        self.inputs = {i.name for i in self.session.get_inputs()}
        self.dim = self.session.get_outputs()[0].shape[-1]
        digest = hashlib.sha256(str(WINDOW).encode())
        for path in (weights, tokenizer, settings):
            with open(path, "rb") as f:
                digest.update(hashlib.file_digest(f, "sha256").digest())
        self.digest, self.name = "sha256:" + digest.hexdigest(), os.path.basename(os.path.normpath(folder))

    def info(self):
        return pb.ModelInfo(name=self.name, version="onnx-1", digest=self.digest, licence="MIT", languages=["en"], counts_tokens=True, gives_token_ids=True,
                            tasks=[pb.TaskInfo(task=pb.TASK_EMBEDDING, dim=self.dim, max_tokens=WINDOW, normalized=True)])

    def embed(self, texts, query, gone):
        encoded = self.cut.encode_batch([self.prefix[query] + t for t in texts])
        tokens = [len(e.ids) for e in encoded]
        out = np.empty((len(texts), self.dim), np.float32)
        order = np.argsort(tokens)  # texts of one length pad each other least
        for at in range(0, len(order), STEP):
            if gone():
                raise mneme_sdk.Invalid("the caller has left")
            rows = order[at:at + STEP]
            width = max(tokens[r] for r in rows)
            ids, mask = np.zeros((len(rows), width), np.int64), np.zeros((len(rows), width), np.int64)
            for i, r in enumerate(rows):
                ids[i, :tokens[r]], mask[i, :tokens[r]] = encoded[r].ids, 1
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            states = self.session.run(None, {k: v for k, v in given.items() if k in self.inputs})[0]
            weight = mask[:, :, None].astype(np.float32)
            mean = (states * weight).sum(axis=1) / weight.sum(axis=1)
            out[rows] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return out, tokens

    def count_tokens(self, texts):
        return [len(e.ids) for e in self.whole.encode_batch(texts, add_special_tokens=False)]

    def token_ids(self, texts, query):
        return [e.ids for e in self.cut.encode_batch([self.prefix[query] + t for t in texts])]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    mneme_sdk.serve(Encoder(sys.argv[1]))
