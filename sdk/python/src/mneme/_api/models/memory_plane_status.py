from typing import Literal, cast

MemoryPlaneStatus = Literal["error", "ok"]


def check_memory_plane_status(value: str) -> MemoryPlaneStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemoryPlaneStatus, value)
