from typing import Literal, cast

WebhookMadeState = Literal["active", "disabled", "failing", "secret_unavailable"]


def check_webhook_made_state(value: str) -> WebhookMadeState:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(WebhookMadeState, value)
