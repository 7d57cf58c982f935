from typing import Literal, cast

SourceItemStatus = Literal["active", "failed"]


def check_source_item_status(value: str) -> SourceItemStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourceItemStatus, value)
