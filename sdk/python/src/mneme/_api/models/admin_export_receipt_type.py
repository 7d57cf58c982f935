from typing import Literal, cast

AdminExportReceiptType = Literal["receipt"]


def check_admin_export_receipt_type(value: str) -> AdminExportReceiptType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminExportReceiptType, value)
