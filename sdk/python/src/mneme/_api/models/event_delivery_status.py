from typing import Literal, cast

EventDeliveryStatus = Literal["dropped", "failed", "pending", "succeeded"]


def check_event_delivery_status(value: str) -> EventDeliveryStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(EventDeliveryStatus, value)
