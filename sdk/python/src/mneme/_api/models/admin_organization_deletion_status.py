from typing import Literal, cast

AdminOrganizationDeletionStatus = Literal["absent", "deleted", "deleting"]


def check_admin_organization_deletion_status(
    value: str,
) -> AdminOrganizationDeletionStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminOrganizationDeletionStatus, value)
