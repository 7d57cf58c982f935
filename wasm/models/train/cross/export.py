"""Writes a trained cross-encoder as a checkpoint that `mneme models pack` takes.

    python export.py RUN --data ../shared/data/train --out CHECKPOINT
    mneme models pack CHECKPOINT --task rerank --out rerank.safetensors

The calibration in config.json turns raw scores into probabilities of an answer;
it is fitted on held-out groups of the training sets, a passage in every five or six right.
"""

import argparse
import json
import shutil
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

from data import MIXTURE, Pairing, Sampler
from evaluate import load, score
from model import CrossEncoder


def calibrate(positive: list[float], negative: list[float]) -> tuple[float, float]:
    """scale and bias of Platt's logistic calibration (Platt 1999), which makes
    sigmoid(scale * raw + bias) the likeliest probabilities."""
    raw = torch.tensor(positive + negative, dtype=torch.float64)
    label = torch.tensor([1.0] * len(positive) + [0.0] * len(negative), dtype=torch.float64)
    mean, deviation = raw.mean(), raw.std()
    unit = (raw - mean) / deviation
    fit = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([fit], max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(fit[0] * unit + fit[1], label)
        loss.backward()
        return loss

    optimizer.step(closure)
    slope, offset = fit.tolist()
    scale = slope / deviation.item()
    return scale, offset - scale * mean.item()


def write(model: CrossEncoder, tokenizer: Path, calibration: tuple[float, float], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    save_file({name: t.contiguous().float() for name, t in model.state_dict().items()}, out / "model.safetensors")
    ours = {"calibration": {"scale": calibration[0], "bias": calibration[1]}}
    (out / "config.json").write_text(json.dumps(model.config | ours, indent=1) + "\n")
    shutil.copy(tokenizer, out / "tokenizer.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a training run")
    parser.add_argument("--out", type=Path, required=True, help="folder of the checkpoint")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/train"), help="folder of the training sets")
    parser.add_argument("--groups", type=int, default=400, help="held-out groups that the calibration is fitted on")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--bf16", action="store_true", help="where the processor or GPU has it natively")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    state = torch.load(args.run / "last.pt", map_location="cpu")
    settings = state["settings"]
    model, tokenizer = load(args.run)
    model = model.to("cuda" if torch.cuda.is_available() else "cpu")
    sampler = Sampler(
        args.data, MIXTURE, settings["batch"], settings["negatives"], settings["seed"], settings["longest"]
    )
    groups = sampler.held_out(args.groups)
    raw = score(model, Pairing(tokenizer, 512), [(g.query, t) for g in groups for t in g.texts], args.bf16)
    width = 1 + settings["negatives"]
    negative = [s for i, s in enumerate(raw) if i % width]
    calibration = calibrate(raw[::width], negative)
    write(model.cpu(), tokenizer, calibration, args.out)
    print(json.dumps({"groups": len(groups), "scale": calibration[0], "bias": calibration[1]}))


if __name__ == "__main__":
    main()
