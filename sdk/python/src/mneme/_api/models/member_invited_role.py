from typing import Literal, cast

MemberInvitedRole = Literal["admin", "owner", "viewer"]


def check_member_invited_role(value: str) -> MemberInvitedRole:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemberInvitedRole, value)
