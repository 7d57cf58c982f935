from typing import Literal, cast

DegradedReason = Literal["error", "model_off", "timeout", "truncated"]


def check_degraded_reason(value: str) -> DegradedReason:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(DegradedReason, value)
