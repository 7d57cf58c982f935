from typing import Literal, cast

AdminUsageListBy = Literal["day", "hour", "total"]


def check_admin_usage_list_by(value: str) -> AdminUsageListBy:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminUsageListBy, value)
