from typing import Literal, cast

CheckSavedRetrieversItem = Literal["keyword", "sparse", "vector"]


def check_check_saved_retrievers_item(value: str) -> CheckSavedRetrieversItem:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(CheckSavedRetrieversItem, value)
