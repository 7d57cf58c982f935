from typing import Literal, cast

AdminCreateIntegrationKeyKind = Literal["integration", "personal"]


def check_admin_create_integration_key_kind(
    value: str,
) -> AdminCreateIntegrationKeyKind:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminCreateIntegrationKeyKind, value)
