from typing import Literal, cast

AuditRecordActor = Literal["anonymous", "cli", "key", "member", "system"]


def check_audit_record_actor(value: str) -> AuditRecordActor:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AuditRecordActor, value)
