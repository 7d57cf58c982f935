from typing import Literal, cast

AdminWebhooksDeliveriesListStatus = Literal["dropped", "failed", "pending", "succeeded"]


def check_admin_webhooks_deliveries_list_status(
    value: str,
) -> AdminWebhooksDeliveriesListStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminWebhooksDeliveriesListStatus, value)
