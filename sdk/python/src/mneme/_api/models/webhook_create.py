from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.webhook_create_kinds_item import (
    WebhookCreateKindsItem,
    check_webhook_create_kinds_item,
)
from ..models.webhook_create_signature import (
    WebhookCreateSignature,
    check_webhook_create_signature,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="WebhookCreate")


@_attrs_define
class WebhookCreate:
    """
    Attributes:
        url (str): where to send events: an https URL
        kinds (list[WebhookCreateKindsItem] | Unset): the kinds of events to send, as GET /event_kinds lists them; none:
            all that the key sees, and those that are to come
        description (None | str | Unset): for people
        signature (WebhookCreateSignature | Unset): v1: a shared secret, which every library of Standard Webhooks
            checks; v1a: a key pair, of which the receiver gets the public half; default: v1
        enabled (bool | None | Unset): whether to send from now on; default: true
    """

    url: str
    kinds: list[WebhookCreateKindsItem] | Unset = UNSET
    description: None | str | Unset = UNSET
    signature: WebhookCreateSignature | Unset = UNSET
    enabled: bool | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        kinds: list[str] | Unset = UNSET
        if not isinstance(self.kinds, Unset):
            kinds = []
            for kinds_item_data in self.kinds:
                kinds_item: str = kinds_item_data
                kinds.append(kinds_item)

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        signature: str | Unset = UNSET
        if not isinstance(self.signature, Unset):
            signature = self.signature

        enabled: bool | None | Unset
        if isinstance(self.enabled, Unset):
            enabled = UNSET
        else:
            enabled = self.enabled

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "url": url,
            }
        )
        if kinds is not UNSET:
            field_dict["kinds"] = kinds
        if description is not UNSET:
            field_dict["description"] = description
        if signature is not UNSET:
            field_dict["signature"] = signature
        if enabled is not UNSET:
            field_dict["enabled"] = enabled

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        url = d.pop("url")

        _kinds = d.pop("kinds", UNSET)
        kinds: list[WebhookCreateKindsItem] | Unset = UNSET
        if _kinds is not UNSET:
            kinds = []
            for kinds_item_data in _kinds:
                kinds_item = check_webhook_create_kinds_item(kinds_item_data)

                kinds.append(kinds_item)

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        _signature = d.pop("signature", UNSET)
        signature: WebhookCreateSignature | Unset
        if isinstance(_signature, Unset):
            signature = UNSET
        else:
            signature = check_webhook_create_signature(_signature)

        def _parse_enabled(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        enabled = _parse_enabled(d.pop("enabled", UNSET))

        webhook_create = cls(
            url=url,
            kinds=kinds,
            description=description,
            signature=signature,
            enabled=enabled,
        )

        return webhook_create
