from typing import Literal, cast

MemberChangeRole = Literal["admin", "owner", "viewer"]


def check_member_change_role(value: str) -> MemberChangeRole:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemberChangeRole, value)
