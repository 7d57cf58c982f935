from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.webhook_made_signature import (
    WebhookMadeSignature,
    check_webhook_made_signature,
)
from ..models.webhook_made_state import WebhookMadeState, check_webhook_made_state

if TYPE_CHECKING:
    from ..models.webhook_secret import WebhookSecret


T = TypeVar("T", bound="WebhookMade")


@_attrs_define
class WebhookMade:
    """
    Attributes:
        id (str):
        url (str): where events are sent to
        kinds (list[str]): the kinds of events that are sent; none: all that the kind of key sees that set them
        description (str): for people
        signature (WebhookMadeSignature): v1: HMAC-SHA256 with a shared secret; v1a: ed25519, checked with a public key
        enabled (bool): false: nothing is sent, and nothing waits for it
        state (WebhookMadeState): failing: its last attempt failed; disabled: enabled is false; secret_unavailable: the
            server cannot read its secrets, so that deliveries wait
        reason (None | str): why the server has disabled it: gone, its endpoint answered 410, or failing, it took
            nothing for days; null: it has not
        failing_since (datetime.datetime | None): when the first delivery failed that none has succeeded after; null:
            none has
        secrets (list[WebhookSecret]): what deliveries are signed with, the newest first; two during a rotation
        created_at (datetime.datetime):
        updated_at (datetime.datetime): when its settings last changed
        secret (None | str): whsec_ and base64, for the receiver's library: shown this once; null: signature v1a needs
            none
    """

    id: str
    url: str
    kinds: list[str]
    description: str
    signature: WebhookMadeSignature
    enabled: bool
    state: WebhookMadeState
    reason: None | str
    failing_since: datetime.datetime | None
    secrets: list[WebhookSecret]
    created_at: datetime.datetime
    updated_at: datetime.datetime
    secret: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        url = self.url

        kinds = self.kinds

        description = self.description

        signature: str = self.signature

        enabled = self.enabled

        state: str = self.state

        reason: None | str
        reason = self.reason

        failing_since: None | str
        if isinstance(self.failing_since, datetime.datetime):
            failing_since = self.failing_since.isoformat()
        else:
            failing_since = self.failing_since

        secrets = []
        for secrets_item_data in self.secrets:
            secrets_item = secrets_item_data.to_dict()
            secrets.append(secrets_item)

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        secret: None | str
        secret = self.secret

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "url": url,
                "kinds": kinds,
                "description": description,
                "signature": signature,
                "enabled": enabled,
                "state": state,
                "reason": reason,
                "failing_since": failing_since,
                "secrets": secrets,
                "created_at": created_at,
                "updated_at": updated_at,
                "secret": secret,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.webhook_secret import WebhookSecret

        d = dict(src_dict)
        id = d.pop("id")

        url = d.pop("url")

        kinds = cast(list[str], d.pop("kinds"))

        description = d.pop("description")

        signature = check_webhook_made_signature(d.pop("signature"))

        enabled = d.pop("enabled")

        state = check_webhook_made_state(d.pop("state"))

        def _parse_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reason = _parse_reason(d.pop("reason"))

        def _parse_failing_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                failing_since_type_0 = datetime.datetime.fromisoformat(data)

                return failing_since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        failing_since = _parse_failing_since(d.pop("failing_since"))

        secrets = []
        _secrets = d.pop("secrets")
        for secrets_item_data in _secrets:
            secrets_item = WebhookSecret.from_dict(secrets_item_data)

            secrets.append(secrets_item)

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        def _parse_secret(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        secret = _parse_secret(d.pop("secret"))

        webhook_made = cls(
            id=id,
            url=url,
            kinds=kinds,
            description=description,
            signature=signature,
            enabled=enabled,
            state=state,
            reason=reason,
            failing_since=failing_since,
            secrets=secrets,
            created_at=created_at,
            updated_at=updated_at,
            secret=secret,
        )

        webhook_made.additional_properties = d
        return webhook_made

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
