from typing import Literal, cast

MemoryReceiptOperation = Literal["tombstone", "upsert"]


def check_memory_receipt_operation(value: str) -> MemoryReceiptOperation:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemoryReceiptOperation, value)
