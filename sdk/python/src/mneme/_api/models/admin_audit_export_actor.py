from typing import Literal, cast

AdminAuditExportActor = Literal["anonymous", "cli", "key", "member", "system"]


def check_admin_audit_export_actor(value: str) -> AdminAuditExportActor:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminAuditExportActor, value)
