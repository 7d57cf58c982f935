from typing import Literal, cast

AdminAuditExportCsvActor = Literal["anonymous", "cli", "key", "member", "system"]


def check_admin_audit_export_csv_actor(value: str) -> AdminAuditExportCsvActor:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminAuditExportCsvActor, value)
