from typing import Literal, cast

AdminExportRecordStatus = Literal["active", "tombstoned"]


def check_admin_export_record_status(value: str) -> AdminExportRecordStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminExportRecordStatus, value)
