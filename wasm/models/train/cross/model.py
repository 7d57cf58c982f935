"""A BERT encoder under Hugging Face's names and the joint head over it."""

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from weights import read_config, read_weights


class Layer(nn.Module):
    def __init__(self, config: dict):
        super().__init__()
        hidden, inner, eps = config["hidden_size"], config["intermediate_size"], config.get("layer_norm_eps", 1e-12)
        self.heads = config["num_attention_heads"]
        linear = {name: nn.Linear(hidden, hidden) for name in ("query", "key", "value")}
        self.attention = nn.ModuleDict({"self": nn.ModuleDict(linear), "output": _output(hidden, hidden, eps)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(hidden, inner)})
        self.output = _output(inner, hidden, eps)

    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        """x holds the states of all pairs' tokens without padding, [tokens,
        hidden]; places [pairs, length] says where they stand in a batch."""

        def split(name: str) -> Tensor:
            padded = x.new_zeros(*places.shape, x.shape[-1], dtype=(y := self.attention["self"][name](x)).dtype)
            padded[places] = y
            return padded.unflatten(-1, (self.heads, -1)).transpose(1, 2)

        mixed = F.scaled_dot_product_attention(
            split("query"), split("key"), split("value"), attn_mask=places[:, None, None, :]
        )
        mixed = self.attention["output"]["dense"](mixed.transpose(1, 2).flatten(2)[places])
        x = self.attention["output"]["LayerNorm"](x + mixed)
        inner = F.gelu(self.intermediate["dense"](x))
        return self.output["LayerNorm"](x + self.output["dense"](inner))


def _output(inputs: int, hidden: int, eps: float) -> nn.ModuleDict:
    return nn.ModuleDict({"dense": nn.Linear(inputs, hidden), "LayerNorm": nn.LayerNorm(hidden, eps)})


class CrossEncoder(nn.Module):
    """Scores pairs [CLS] query [SEP] text [SEP] by

        scale * mean_i max_j cos(q_i, d_j) + weight . h_CLS + bias

    over the final states of the query's pieces q_i and the text's pieces d_j.
    A fresh head is MaxSim alone, which ranks at once; a CLS head starts at chance.
    There is no dropout: a run sees its data about once."""

    def __init__(self, config: dict, scale: float = 10.0):
        super().__init__()
        hidden, eps = config["hidden_size"], config.get("layer_norm_eps", 1e-12)
        self.config = config
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(config["vocab_size"], hidden),
                "position_embeddings": nn.Embedding(config["max_position_embeddings"], hidden),
                "token_type_embeddings": nn.Embedding(config["type_vocab_size"], hidden),
                "LayerNorm": nn.LayerNorm(hidden, eps),
            }
        )
        layers = nn.ModuleList(Layer(config) for _ in range(config["num_hidden_layers"]))
        self.encoder = nn.ModuleDict({"layer": layers})
        self.head = nn.ParameterDict(
            {"weight": torch.zeros(hidden), "bias": torch.zeros(1), "scale": torch.tensor([scale])}
        )

    @classmethod
    def from_checkpoint(cls, folder: Path, layers: int | None = None) -> "CrossEncoder":
        """The first layers of an encoder's checkpoint under a fresh head, or a
        trained cross-encoder with its own."""
        config = read_config(folder)
        config["num_hidden_layers"] = min(layers or config["num_hidden_layers"], config["num_hidden_layers"])
        model = cls(config)
        missing, _ = model.load_state_dict(read_weights(folder), strict=False)
        if lost := [name for name in missing if not name.startswith("head.")]:
            raise ValueError(f"{folder}: no tensor {lost[0]} ({len(lost)} missing)")
        return model

    def freeze(self, layers: int) -> None:
        """Keeps the embeddings, where a small training set would bend the rows
        that it happens to touch, and the first layers, which need no backward pass then."""
        self.embeddings.requires_grad_(False)
        self.encoder["layer"][:layers].requires_grad_(False)

    def forward(self, ids: Tensor, types: Tensor, query: Tensor, text: Tensor) -> Tensor:
        """Raw scores [pairs]. All arguments are [pairs, length]: token ids,
        segment (0 up to the first [SEP], then 1), and which places hold pieces
        of the query and of the text, without special tokens. Padding is id 0."""
        places = ids != 0  # only attention pads: texts differ in length by much
        position = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)[places]
        e = self.embeddings
        x = e["word_embeddings"](ids[places]) + e["token_type_embeddings"](types[places])
        x = e["LayerNorm"](x + e["position_embeddings"](position))
        for layer in self.encoder["layer"]:
            x = layer(x, places)
        with torch.autocast(ids.device.type, enabled=False):
            packed, x = x.float(), x.new_zeros(*ids.shape, x.shape[-1], dtype=torch.float32)
            x[places] = packed
            unit = F.normalize(x, dim=-1)
            longest = int(query.sum(1).max())
            cosines = unit[:, 1 : 1 + longest] @ unit.transpose(1, 2)  # the query stands right behind [CLS]
            best = cosines.masked_fill(~text[:, None, :], -1.0).amax(-1)
            asked = query[:, 1 : 1 + longest] & text.any(1, keepdim=True)  # an empty side: the term is 0
            maxsim = (best * asked).sum(1) / asked.sum(1).clamp(min=1)
            return self.head["scale"] * maxsim + x[:, 0] @ self.head["weight"] + self.head["bias"]
