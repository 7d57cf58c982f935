from typing import Literal, cast

FileAcceptedStatus = Literal["failed", "queued", "running", "succeeded"]


def check_file_accepted_status(value: str) -> FileAcceptedStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(FileAcceptedStatus, value)
