from typing import Literal, cast

SourcesItemsListStatus = Literal["active", "failed"]


def check_sources_items_list_status(value: str) -> SourcesItemsListStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourcesItemsListStatus, value)
