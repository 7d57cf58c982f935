from typing import Literal, cast

WebhookCreateSignature = Literal["v1", "v1a"]


def check_webhook_create_signature(value: str) -> WebhookCreateSignature:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(WebhookCreateSignature, value)
