from typing import Literal, cast

QueryResultRetrieversItem = Literal["keyword", "sparse", "vector"]


def check_query_result_retrievers_item(value: str) -> QueryResultRetrieversItem:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(QueryResultRetrieversItem, value)
