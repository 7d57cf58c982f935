from typing import Literal, cast

ModelKind = Literal["answer", "embedding", "rerank", "sparse"]


def check_model_kind(value: str) -> ModelKind:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(ModelKind, value)
