from typing import Literal, cast

StatusHealthStatus = Literal["ok"]


def check_status_health_status(value: str) -> StatusHealthStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(StatusHealthStatus, value)
