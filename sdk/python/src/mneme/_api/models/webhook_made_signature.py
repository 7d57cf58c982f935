from typing import Literal, cast

WebhookMadeSignature = Literal["v1", "v1a"]


def check_webhook_made_signature(value: str) -> WebhookMadeSignature:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(WebhookMadeSignature, value)
