from typing import Literal, cast

WebhookSignature = Literal["v1", "v1a"]


def check_webhook_signature(value: str) -> WebhookSignature:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(WebhookSignature, value)
