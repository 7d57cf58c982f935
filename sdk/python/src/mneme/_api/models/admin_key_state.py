from typing import Literal, cast

AdminKeyState = Literal["expired", "live", "revoked"]


def check_admin_key_state(value: str) -> AdminKeyState:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminKeyState, value)
