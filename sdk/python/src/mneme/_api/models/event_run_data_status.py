from typing import Literal, cast

EventRunDataStatus = Literal[
    "cancelled", "completed", "failed", "interrupted", "partial"
]


def check_event_run_data_status(value: str) -> EventRunDataStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(EventRunDataStatus, value)
