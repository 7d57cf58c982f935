from typing import Literal, cast

AdminIssuedKeyKind = Literal[
    "admin", "integration", "organization", "personal", "service", "team"
]


def check_admin_issued_key_kind(value: str) -> AdminIssuedKeyKind:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminIssuedKeyKind, value)
