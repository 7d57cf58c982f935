from typing import Literal, cast

ModelsListKind = Literal["answer", "embedding", "rerank", "sparse"]


def check_models_list_kind(value: str) -> ModelsListKind:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(ModelsListKind, value)
