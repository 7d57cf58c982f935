from typing import Literal, cast

AdminExportReceiptOutcome = Literal[
    "created", "restored", "tombstoned", "unchanged", "updated"
]


def check_admin_export_receipt_outcome(value: str) -> AdminExportReceiptOutcome:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminExportReceiptOutcome, value)
