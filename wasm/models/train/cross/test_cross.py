"""Self-check on a toy model and a toy set: pytest wasm/models/train/cross"""

import gzip
import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from data import BM25, Group, Pairing, Quota, Sampler
from evaluate import measure, ndcg, score
from export import calibrate, write
from model import CrossEncoder
from train import Settings, Trainer, run

CONFIG = {
    "model_type": "bert",
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
    "type_vocab_size": 2,
    "vocab_size": 45,
}
COLOURS = [f"colour{i}" for i in range(20)]
THINGS = [f"thing{i}" for i in range(20)]
MIXTURE = (Quota("toy", 60),)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Every passage says a thing's colour; a question names the thing."""
    folder = tmp_path / "data" / "toy"
    folder.mkdir(parents=True)
    facts = [(t, COLOURS[(3 * i + j) % 20]) for i, t in enumerate(THINGS) for j in range(5)]
    corpus = [{"id": str(i), "text": f"{t} {c}", "meta": {"group": t}} for i, (t, c) in enumerate(facts)]
    pairs = [{"query": f"{c} {t}", "positive_id": str(i)} for i, (t, c) in enumerate(facts)]
    for name, rows in (("corpus", corpus), ("pairs", pairs)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt") as out:
            out.writelines(json.dumps(r) + "\n" for r in rows)
    return tmp_path / "data"


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *COLOURS, *THINGS])}
    toy = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    toy.normalizer, toy.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    toy.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def toy_trainer(steps: int = 60, seed: int = 1) -> Trainer:
    torch.manual_seed(3)
    settings = Settings(steps, batch=6, negatives=3, rate=2e-3, head_rate=1e-2, layers=2, window=32, seed=seed)
    return Trainer(CrossEncoder(CONFIG), settings, torch.device("cpu"), bf16=False)


def toy_sampler(root: Path) -> Sampler:
    return Sampler(root, MIXTURE, batch=6, negatives=3, seed=1, longest=100)


def test_training_lowers_the_loss_on_held_out_questions(root, tokenizer):
    trainer, sampler, pairing = toy_trainer(), toy_sampler(root), Pairing(tokenizer, 32)
    kept = sampler.held_out(60)
    drawn = {g.query for step in range(sampler.steps_per_epoch) for g in sampler.step(step)}
    assert kept and not drawn & {g.query for g in kept}
    before, _ = trainer.validate(kept, pairing)
    while trainer.step < trainer.settings.steps:
        trainer.update(sampler.step(trainer.step), pairing)
    after, first = trainer.validate(kept, pairing)
    assert after < 0.5 * before and first > 0.5


def test_a_resumed_run_ends_in_the_same_state(root, tokenizer, tmp_path):
    pairing = Pairing(tokenizer, 32)
    whole = toy_trainer(9)
    for step in range(9):
        whole.update(toy_sampler(root).step(step), pairing)

    out = tmp_path / "run"
    out.mkdir()
    stopped = toy_trainer(9)
    for step in range(4):
        stopped.update(toy_sampler(root).step(step), pairing)
    stopped.save(out / "last.pt")
    resumed = toy_trainer(9)
    run(resumed, toy_sampler(root), pairing, out, every=3)

    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(tensor, resumed.model.state_dict()[name]), name
    ours, theirs = (t.optimizer.state_dict()["state"] for t in (whole, resumed))
    for key, state in ours.items():
        assert torch.equal(state["exp_avg_sq"], theirs[key]["exp_avg_sq"])
    with pytest.raises(ValueError, match="other settings"):
        toy_trainer(9, seed=2).load(out / "last.pt")


def test_embeddings_and_frozen_layers_stay_as_they_are(root, tokenizer):
    model = CrossEncoder(CONFIG)
    before = {name: t.clone() for name, t in model.state_dict().items()}
    trainer = Trainer(model, Settings(5, layers=2, frozen=1), torch.device("cpu"), bf16=False)
    trainer.update(toy_sampler(root).step(0), Pairing(tokenizer, 32))
    moved = {name for name, t in model.state_dict().items() if not torch.equal(t, before[name])}
    assert moved and not any(name.startswith(("embeddings.", "encoder.layer.0.")) for name in moved)


def test_the_score_is_the_formula_over_unpadded_pairs(tokenizer):
    torch.manual_seed(0)
    model = CrossEncoder(CONFIG).eval()
    torch.nn.init.normal_(model.head["weight"])
    torch.nn.init.normal_(model.head["bias"])
    states = {}
    hook = model.encoder["layer"][-1].register_forward_hook(lambda _m, _i, out: states.update(last=out.clone()))
    pairs = [("colour1 thing2 colour3", "thing2"), ("thing4", "colour1 thing5 colour6 thing7 thing8")]
    together = score(model, Pairing(tokenizer, 32), pairs, amp=False)
    for pair, got in zip(pairs, together, strict=True):
        alone = score(model, Pairing(tokenizer, 32), [pair], amp=False)[0]
        h = states["last"]
        asked = len(pair[0].split())
        q, d = h[1 : 1 + asked], h[asked + 2 : -1]
        best = [max(torch.cosine_similarity(a, b, dim=0).item() for b in d) for a in q]
        scale, weight, bias = (model.head[name].detach() for name in ("scale", "weight", "bias"))
        want = scale * sum(best) / asked + (weight * h[0]).sum() + bias
        assert alone == pytest.approx(want.item(), abs=1e-4)
        assert got == pytest.approx(alone, abs=1e-4)
    hook.remove()


@pytest.mark.parametrize("pair", [("", "thing1"), ("thing1", "")])
def test_without_query_or_text_the_cls_term_is_left(pair, tokenizer):
    model = CrossEncoder(CONFIG)
    torch.nn.init.constant_(model.head["bias"], 0.5)
    assert score(model, Pairing(tokenizer, 32), [pair], amp=False) == [0.5]


def test_an_exported_model_scores_as_before(tokenizer, tmp_path):
    torch.manual_seed(0)
    model = CrossEncoder(CONFIG)
    torch.nn.init.normal_(model.head["weight"])
    write(model, tokenizer, (2.0, -1.0), tmp_path / "out")
    again = CrossEncoder.from_checkpoint(tmp_path / "out")
    pairs, pairing = [("colour1", "thing2 colour1")], Pairing(tmp_path / "out" / "tokenizer.json", 32)
    assert score(again, pairing, pairs, amp=False) == score(model, pairing, pairs, amp=False)
    assert json.loads((tmp_path / "out" / "config.json").read_text())["calibration"] == {"scale": 2.0, "bias": -1.0}


def test_calibration_finds_the_share_of_positives():
    scale, bias = calibrate([3.0] * 30 + [1.0] * 10, [3.0] * 10 + [1.0] * 30)
    odds = [1 / (1 + torch.exp(torch.tensor(-(scale * raw + bias))).item()) for raw in (3.0, 1.0)]
    assert odds == pytest.approx([0.75, 0.25], abs=1e-3)


def test_a_batch_is_a_function_of_seed_and_step(root):
    one, other = toy_sampler(root), toy_sampler(root)
    far = 3 * one.steps_per_epoch + 1
    one.step(0)
    assert one.step(far) == other.step(far)
    group: Group = one.step(far)[0]
    assert len(group.texts) == len(set(group.texts)) == 4


def test_bm25_ranks_rare_words_first():
    index = BM25(["the red house", "the blue house", "the green door and the red gate"])
    assert index.top("blue house", 2) == [1, 0]
    assert index.top("nothing here", 2) == []


def test_measure_reorders_the_first_candidates_only(tmp_path):
    row = {
        "query": "q",
        "grades": {"b": 1, "c": 1},
        "cands": [{"c": i, "d": d, "f": f} for i, (d, f) in enumerate([("a", 0.9), ("b", 0.5), ("c", 0.1)])],
    }
    (tmp_path / "toy.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "toy.texts.jsonl").write_text("".join(json.dumps(t) + "\n" for t in "abc"))
    found = measure(lambda pairs: [float(text == "b") for _, text in pairs], tmp_path, "toy", limit=0, depth=2)
    assert found["first"] == pytest.approx(ndcg(["a", "b", "c"], row["grades"]), abs=1e-4)
    assert found["mix"][0.0] == pytest.approx(ndcg(["b", "a", "c"], row["grades"]), abs=1e-4)
    assert found["mix"][6.0] == found["first"]
