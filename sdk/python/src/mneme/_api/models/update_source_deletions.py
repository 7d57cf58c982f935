from typing import Literal, cast

UpdateSourceDeletions = Literal["keep", "propagate"]


def check_update_source_deletions(value: str) -> UpdateSourceDeletions:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(UpdateSourceDeletions, value)
