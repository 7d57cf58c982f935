from typing import Literal, cast

QueryRequestMode = Literal["hybrid", "keyword", "sparse", "vector"]


def check_query_request_mode(value: str) -> QueryRequestMode:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(QueryRequestMode, value)
