from typing import Literal, cast

WebhookDeliveryStatus = Literal["dropped", "failed", "pending", "succeeded"]


def check_webhook_delivery_status(value: str) -> WebhookDeliveryStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(WebhookDeliveryStatus, value)
