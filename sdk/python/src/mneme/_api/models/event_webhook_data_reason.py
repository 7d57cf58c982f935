from typing import Literal, cast

EventWebhookDataReason = Literal["failing", "gone"]


def check_event_webhook_data_reason(value: str) -> EventWebhookDataReason:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(EventWebhookDataReason, value)
