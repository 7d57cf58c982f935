from typing import Literal, cast

AdminCreateIntegrationKeyScopesItem = Literal[
    "memories:read", "memories:write", "recall:read", "status:read", "users:erase"
]


def check_admin_create_integration_key_scopes_item(
    value: str,
) -> AdminCreateIntegrationKeyScopesItem:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminCreateIntegrationKeyScopesItem, value)
