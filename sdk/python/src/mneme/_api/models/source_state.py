from typing import Literal, cast

SourceState = Literal["deleting", "error", "idle", "paused", "syncing"]


def check_source_state(value: str) -> SourceState:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourceState, value)
