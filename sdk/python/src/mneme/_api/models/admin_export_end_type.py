from typing import Literal, cast

AdminExportEndType = Literal["end"]


def check_admin_export_end_type(value: str) -> AdminExportEndType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminExportEndType, value)
