from typing import Literal, cast

WebhookCreateKindsItem = Literal[
    "documents.deleted",
    "documents.written",
    "key.created",
    "key.revoked",
    "memory.created",
    "memory.deleted",
    "memory.restored",
    "memory.tombstoned",
    "memory.updated",
    "model.state_changed",
    "namespace.created",
    "namespace.deleted",
    "namespace.reindexed",
    "quota.exceeded",
    "source.credentials_failed",
    "source.deletions_withheld",
    "source.run.completed",
    "source.run.failed",
    "source.state_changed",
    "user.erased",
    "webhook.disabled",
]


def check_webhook_create_kinds_item(value: str) -> WebhookCreateKindsItem:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(WebhookCreateKindsItem, value)
