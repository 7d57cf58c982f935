from typing import Literal, cast

SourcesListState = Literal["deleting", "error", "idle", "paused", "syncing"]


def check_sources_list_state(value: str) -> SourcesListState:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourcesListState, value)
