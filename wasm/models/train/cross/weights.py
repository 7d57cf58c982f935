"""Checkpoints of BERT-family encoders as tensors under Hugging Face's names."""

import json
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from safetensors.torch import load_file


def read_config(folder: Path) -> dict:
    """config.json of a checkpoint, with the settings this code can run checked."""
    config = json.loads((folder / "config.json").read_text())
    if config.get("hidden_act", "gelu") != "gelu" or config.get("position_embedding_type", "absolute") != "absolute":
        raise ValueError(f"{folder}: only gelu and absolute positions are supported")
    return config


def read_weights(folder: Path) -> dict[str, torch.Tensor]:
    """The weights of model.safetensors, else of model.onnx, in f32."""
    if (folder / "model.safetensors").exists():
        found = load_file(folder / "model.safetensors")
    elif (folder / "model.onnx").exists():
        found = _read_onnx(folder / "model.onnx")
    else:
        raise FileNotFoundError(f"{folder}: neither model.safetensors nor model.onnx")
    return {name.removeprefix("bert."): tensor.float() for name, tensor in found.items() if tensor.is_floating_point()}


def _read_onnx(path: Path) -> dict[str, torch.Tensor]:
    """The exporter folds a linear layer's weight into an anonymous transposed
    initializer; its name is that of the bias added to the product, or comes
    from the path of the node that multiplies by it."""
    graph = onnx.load(path).graph
    tensors = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in graph.initializer}
    bias_of: dict[str, str] = {}
    for node in graph.node:
        if node.op_type == "Add":
            for mine, other in (node.input, reversed(node.input)):
                if mine.endswith(".bias"):
                    bias_of[other] = mine
    for node in graph.node:
        if node.op_type != "MatMul" or node.input[1] not in tensors:
            continue
        if node.output[0] in bias_of:
            name = bias_of[node.output[0]].removesuffix("bias") + "weight"
        else:
            name = node.name.removeprefix("/").removesuffix("/MatMul").replace("/", ".") + ".weight"
        tensors[name] = tensors.pop(node.input[1]).T.contiguous()
    return tensors
