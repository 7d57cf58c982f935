from typing import Literal, cast

AdminExportHeadType = Literal["end_user"]


def check_admin_export_head_type(value: str) -> AdminExportHeadType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminExportHeadType, value)
