from typing import Literal, cast

CheckSavedMode = Literal["hybrid", "keyword", "sparse", "vector"]


def check_check_saved_mode(value: str) -> CheckSavedMode:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(CheckSavedMode, value)
