from typing import Literal, cast

AdminKeyKind = Literal[
    "admin", "integration", "organization", "personal", "service", "team"
]


def check_admin_key_kind(value: str) -> AdminKeyKind:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminKeyKind, value)
