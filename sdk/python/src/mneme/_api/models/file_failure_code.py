from typing import Literal, cast

FileFailureCode = Literal[
    "broken",
    "encrypted",
    "invalid_metadata",
    "no_text",
    "timeout",
    "too_large",
    "unsupported",
]


def check_file_failure_code(value: str) -> FileFailureCode:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(FileFailureCode, value)
