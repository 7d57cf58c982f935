from typing import Literal, cast

FileStatus = Literal["failed", "read"]


def check_file_status(value: str) -> FileStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(FileStatus, value)
