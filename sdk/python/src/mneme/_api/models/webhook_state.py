from typing import Literal, cast

WebhookState = Literal["active", "disabled", "failing", "secret_unavailable"]


def check_webhook_state(value: str) -> WebhookState:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(WebhookState, value)
