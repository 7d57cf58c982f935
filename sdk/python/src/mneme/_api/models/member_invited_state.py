from typing import Literal, cast

MemberInvitedState = Literal["active", "disabled", "invited"]


def check_member_invited_state(value: str) -> MemberInvitedState:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemberInvitedState, value)
