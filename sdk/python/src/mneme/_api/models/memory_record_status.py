from typing import Literal, cast

MemoryRecordStatus = Literal["active", "tombstoned"]


def check_memory_record_status(value: str) -> MemoryRecordStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemoryRecordStatus, value)
