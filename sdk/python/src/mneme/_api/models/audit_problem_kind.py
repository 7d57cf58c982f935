from typing import Literal, cast

AuditProblemKind = Literal["changed", "inserted", "removed"]


def check_audit_problem_kind(value: str) -> AuditProblemKind:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AuditProblemKind, value)
