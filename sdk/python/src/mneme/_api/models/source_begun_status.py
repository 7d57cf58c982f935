from typing import Literal, cast

SourceBegunStatus = Literal[
    "cancelled", "completed", "failed", "interrupted", "partial", "queued", "running"
]


def check_source_begun_status(value: str) -> SourceBegunStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourceBegunStatus, value)
