from typing import Literal, cast

CheckSaveMode = Literal["hybrid", "keyword", "sparse", "vector"]


def check_check_save_mode(value: str) -> CheckSaveMode:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(CheckSaveMode, value)
