from typing import Literal, cast

AdminOrganizationLineType = Literal["organization"]


def check_admin_organization_line_type(value: str) -> AdminOrganizationLineType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminOrganizationLineType, value)
