from typing import Literal, cast

SourcesRunsItemsStatus = Literal[
    "created", "deleted", "failed", "skipped", "updated", "withheld"
]


def check_sources_runs_items_status(value: str) -> SourcesRunsItemsStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourcesRunsItemsStatus, value)
