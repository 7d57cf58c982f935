from typing import Literal, cast

CheckSaveRetrieversType0Item = Literal["keyword", "sparse", "vector"]


def check_check_save_retrievers_type_0_item(value: str) -> CheckSaveRetrieversType0Item:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(CheckSaveRetrieversType0Item, value)
