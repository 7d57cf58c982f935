from typing import Literal, cast

WebhookCreateOfSignature = Literal["v1", "v1a"]


def check_webhook_create_of_signature(value: str) -> WebhookCreateOfSignature:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(WebhookCreateOfSignature, value)
