from typing import Literal, cast

SourceRunStatus = Literal[
    "cancelled", "completed", "failed", "interrupted", "partial", "queued", "running"
]


def check_source_run_status(value: str) -> SourceRunStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourceRunStatus, value)
