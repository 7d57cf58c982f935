from typing import Literal, cast

QueryRequestRetrieversType0Item = Literal["keyword", "sparse", "vector"]


def check_query_request_retrievers_type_0_item(
    value: str,
) -> QueryRequestRetrieversType0Item:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(QueryRequestRetrieversType0Item, value)
