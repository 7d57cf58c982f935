from typing import Literal, cast

StatusDeepStatus = Literal["degraded", "error", "ok"]


def check_status_deep_status(value: str) -> StatusDeepStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(StatusDeepStatus, value)
