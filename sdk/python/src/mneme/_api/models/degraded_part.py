from typing import Literal, cast

DegradedPart = Literal["answer", "keyword", "rerank", "sparse", "vector"]


def check_degraded_part(value: str) -> DegradedPart:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(DegradedPart, value)
