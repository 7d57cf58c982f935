from typing import Literal, cast

MemoryGrantUpstream = Literal["revoked", "unanswered"]


def check_memory_grant_upstream(value: str) -> MemoryGrantUpstream:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemoryGrantUpstream, value)
