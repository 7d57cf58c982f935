from typing import Literal, cast

SourceDeletions = Literal["keep", "propagate"]


def check_source_deletions(value: str) -> SourceDeletions:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourceDeletions, value)
