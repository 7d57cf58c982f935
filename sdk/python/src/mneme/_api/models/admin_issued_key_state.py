from typing import Literal, cast

AdminIssuedKeyState = Literal["expired", "live", "revoked"]


def check_admin_issued_key_state(value: str) -> AdminIssuedKeyState:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminIssuedKeyState, value)
