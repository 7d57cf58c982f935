from typing import Literal, cast

AdminExportReceiptOperation = Literal["tombstone", "upsert"]


def check_admin_export_receipt_operation(value: str) -> AdminExportReceiptOperation:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminExportReceiptOperation, value)
