from typing import Literal, cast

CreateSourceDeletions = Literal["keep", "propagate"]


def check_create_source_deletions(value: str) -> CreateSourceDeletions:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(CreateSourceDeletions, value)
