from typing import Literal, cast

OpenaiModelKindsItem = Literal["answer", "embedding", "rerank", "sparse"]


def check_openai_model_kinds_item(value: str) -> OpenaiModelKindsItem:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiModelKindsItem, value)
