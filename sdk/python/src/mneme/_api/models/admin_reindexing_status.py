from typing import Literal, cast

AdminReindexingStatus = Literal[
    "failed", "held", "running", "succeeded", "unchanged", "waiting"
]


def check_admin_reindexing_status(value: str) -> AdminReindexingStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminReindexingStatus, value)
