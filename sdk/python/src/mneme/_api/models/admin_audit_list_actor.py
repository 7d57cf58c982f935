from typing import Literal, cast

AdminAuditListActor = Literal["anonymous", "cli", "key", "member", "system"]


def check_admin_audit_list_actor(value: str) -> AdminAuditListActor:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminAuditListActor, value)
