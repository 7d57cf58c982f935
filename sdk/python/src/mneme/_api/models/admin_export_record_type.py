from typing import Literal, cast

AdminExportRecordType = Literal["record"]


def check_admin_export_record_type(value: str) -> AdminExportRecordType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminExportRecordType, value)
