from typing import Literal, cast

SourceRunItemStatus = Literal[
    "created", "deleted", "failed", "skipped", "updated", "withheld"
]


def check_source_run_item_status(value: str) -> SourceRunItemStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourceRunItemStatus, value)
