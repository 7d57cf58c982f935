from typing import Literal, cast

SourcePushedItemStatus = Literal["created", "deleted", "failed", "unchanged", "updated"]


def check_source_pushed_item_status(value: str) -> SourcePushedItemStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourcePushedItemStatus, value)
