from typing import Literal, cast

StatusCheckStatus = Literal["error", "off", "ok"]


def check_status_check_status(value: str) -> StatusCheckStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(StatusCheckStatus, value)
