from typing import Literal, cast

AdminCreateKeyKind = Literal["admin", "organization", "service", "team"]


def check_admin_create_key_kind(value: str) -> AdminCreateKeyKind:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminCreateKeyKind, value)
