from typing import Literal, cast

EventKindInfoKeys = Literal["admin", "service"]


def check_event_kind_info_keys(value: str) -> EventKindInfoKeys:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(EventKindInfoKeys, value)
