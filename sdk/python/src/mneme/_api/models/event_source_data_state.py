from typing import Literal, cast

EventSourceDataState = Literal["deleting", "error", "idle", "paused", "syncing"]


def check_event_source_data_state(value: str) -> EventSourceDataState:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(EventSourceDataState, value)
