from typing import Literal, cast

MemberRole = Literal["admin", "owner", "viewer"]


def check_member_role(value: str) -> MemberRole:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemberRole, value)
