from typing import Literal, cast

WebhooksDeliveriesListStatus = Literal["dropped", "failed", "pending", "succeeded"]


def check_webhooks_deliveries_list_status(value: str) -> WebhooksDeliveriesListStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(WebhooksDeliveriesListStatus, value)
