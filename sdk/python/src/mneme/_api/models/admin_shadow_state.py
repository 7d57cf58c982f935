from typing import Literal, cast

AdminShadowState = Literal["building", "kept"]


def check_admin_shadow_state(value: str) -> AdminShadowState:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminShadowState, value)
