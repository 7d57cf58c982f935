from typing import Literal, cast

MemoryReceiptOutcome = Literal[
    "created", "restored", "tombstoned", "unchanged", "updated"
]


def check_memory_receipt_outcome(value: str) -> MemoryReceiptOutcome:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemoryReceiptOutcome, value)
