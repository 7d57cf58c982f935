from typing import Literal, cast

EventModelDataKind = Literal["answer", "embedding", "rerank", "sparse"]


def check_event_model_data_kind(value: str) -> EventModelDataKind:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(EventModelDataKind, value)
