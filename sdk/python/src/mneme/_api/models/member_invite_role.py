from typing import Literal, cast

MemberInviteRole = Literal["admin", "owner", "viewer"]


def check_member_invite_role(value: str) -> MemberInviteRole:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemberInviteRole, value)
