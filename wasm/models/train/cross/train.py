"""Trains a cross-encoder with the joint head from an encoder's checkpoint.

    python train.py .cache/models/e5-small-v2 --out RUN --steps 2000

Run the same command again to go on after a stop.
"""

import argparse
import dataclasses
import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from data import MIXTURE, Group, Pairing, Sampler
from model import CrossEncoder


@dataclass(frozen=True)
class Settings:
    """What a run depends on."""

    steps: int
    batch: int = 8  # groups a step
    negatives: int = 5  # of a group
    rate: float = 5e-5
    head_rate: float = 5e-4
    warmup: float = 0.06  # part of the steps
    longest: int = 800  # characters of a passage; about the chunks that the engine scores
    window: int = 256  # tokens of a pair
    layers: int = 6
    frozen: int = 0  # first layers kept as they are, like the embeddings
    seed: int = 1


class Trainer:
    """Model, optimizer and step count of a run; all of its state."""

    def __init__(self, model: CrossEncoder, settings: Settings, device: torch.device, bf16: bool):
        self.model, self.settings, self.device, self.bf16 = model.to(device), settings, device, bf16
        self.step = 0
        model.freeze(settings.frozen)
        body = {True: [], False: []}
        for parameter in model.encoder.parameters():
            if parameter.requires_grad:
                body[parameter.dim() > 1].append(parameter)
        self.optimizer = torch.optim.AdamW(
            [
                {"params": body[True], "lr": settings.rate, "weight_decay": 0.01},
                {"params": body[False], "lr": settings.rate, "weight_decay": 0.0},
                {"params": list(model.head.values()), "lr": settings.head_rate, "weight_decay": 0.0},
            ]
        )
        for group in self.optimizer.param_groups:
            group["peak"] = group["lr"]

    def scores(self, groups: list[Group], pairing: Pairing) -> Tensor:
        """Raw scores [groups, passages]."""
        b = pairing([(g.query, text) for g in groups for text in g.texts]).to(self.device)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            return self.model(b.ids, b.types, b.query, b.text).view(len(groups), -1)

    def update(self, groups: list[Group], pairing: Pairing) -> tuple[float, float]:
        """One step: loss, and the share of groups whose positive came first."""
        done, s = self.step / self.settings.steps, self.settings
        share = min((self.step + 1) / (s.warmup * s.steps + 1), max(1 - done, 0) / (1 - s.warmup))
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * min(share, 1)
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        scores = self.scores(groups, pairing)
        loss = F.cross_entropy(scores, torch.zeros(len(groups), dtype=torch.long, device=self.device))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        return loss.item(), (scores.argmax(1) == 0).float().mean().item()

    @torch.inference_mode()
    def validate(self, groups: list[Group], pairing: Pairing) -> tuple[float, float]:
        """Loss and share of positives in first place over held-out groups."""
        self.model.eval()
        size = self.settings.batch
        groups = sorted(groups, key=lambda g: len(g.texts[0]))
        parts = [self.scores(groups[i : i + size], pairing) for i in range(0, len(groups), size)]
        scores = torch.cat(parts)
        loss = F.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long, device=self.device))
        return loss.item(), (scores.argmax(1) == 0).float().mean().item()

    def save(self, path: Path) -> None:
        """Writes the checkpoint whole or not at all."""
        part = path.with_suffix(".part")
        torch.save(
            {
                "config": self.model.config,
                "settings": dataclasses.asdict(self.settings),
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "step": self.step,
            },
            part,
        )
        os.replace(part, path)

    def load(self, path: Path) -> None:
        """Goes on from a checkpoint. Only steps may differ from when it was
        written, to end a run sooner or later than planned: the rate falls to zero at the new end."""
        state = torch.load(path, map_location=self.device)
        if state["settings"] | {"steps": self.settings.steps} != dataclasses.asdict(self.settings):
            raise ValueError(f"{path} was made with other settings: {state['settings']}")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step = state["step"]


def run(trainer: Trainer, sampler: Sampler, pairing: Pairing, out: Path, every: int, kept: int = 200) -> None:
    """Trains to the last step; every so many, validates on the kept groups and saves."""
    last = out / "last.pt"
    if last.exists():
        trainer.load(last)
        print(f"resumed at step {trainer.step}", flush=True)
    held_out = sampler.held_out(kept)
    steps = trainer.settings.steps
    with (out / "log.jsonl").open("a") as log:
        began, first = time.time(), trainer.step
        losses: list[tuple[float, float]] = []
        while trainer.step < steps:
            losses.append(trainer.update(sampler.step(trainer.step), pairing))
            done = trainer.step
            loss, right = (sum(x) / len(losses) for x in zip(*losses, strict=True))
            if done % 10 == 0 or done == steps:
                pace = (time.time() - began) / (done - first)
                left = pace * (steps - done) / 60
                print(
                    f"{done}/{steps} loss {loss:.3f} first {right:.3f} {pace:.2f} s/step {left:.0f} min left",
                    flush=True,
                )
            if done % every == 0 or done == steps:
                held = trainer.validate(held_out, pairing)
                entry = {
                    "step": done,
                    "loss": loss,
                    "first": right,
                    "held_out_loss": held[0],
                    "held_out_first": held[1],
                }
                log.write(json.dumps(entry) + "\n")
                log.flush()
                print(json.dumps(entry), flush=True)
                trainer.save(last)
                losses.clear()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "base", type=Path, help="checkpoint of an encoder (safetensors or ONNX, config.json, tokenizer.json)"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the run")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/train"), help="folder of the training sets")
    parser.add_argument("--every", type=int, default=100, help="steps between checkpoints")
    parser.add_argument("--kept", type=int, default=200, help="held-out groups that each checkpoint is validated on")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--bf16", action="store_true", help="where the processor or GPU has it natively")
    for field in dataclasses.fields(Settings):
        needed = field.default is dataclasses.MISSING
        name = "--" + field.name.replace("_", "-")
        parser.add_argument(name, type=field.type, required=needed, default=None if needed else field.default)
    args = parser.parse_args()
    settings = Settings(**{field.name: getattr(args, field.name) for field in dataclasses.fields(Settings)})
    torch.manual_seed(settings.seed)
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    shutil.copy(args.base / "tokenizer.json", args.out)
    model = CrossEncoder.from_checkpoint(args.base, settings.layers)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    trainer = Trainer(model, settings, device, args.bf16)
    pairing = Pairing(args.base / "tokenizer.json", settings.window)
    sampler = Sampler(args.data, MIXTURE, settings.batch, settings.negatives, settings.seed, settings.longest)
    weights = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"{sampler.steps_per_epoch} steps an epoch, {weights:,} weights to train", flush=True)
    run(trainer, sampler, pairing, args.out, args.every, args.kept)


if __name__ == "__main__":
    main()
