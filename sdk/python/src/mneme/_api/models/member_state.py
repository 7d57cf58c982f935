from typing import Literal, cast

MemberState = Literal["active", "disabled", "invited"]


def check_member_state(value: str) -> MemberState:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemberState, value)
