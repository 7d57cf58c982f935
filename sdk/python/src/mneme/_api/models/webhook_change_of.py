from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.webhook_change_of_kinds_type_0_item import (
    WebhookChangeOfKindsType0Item,
    check_webhook_change_of_kinds_type_0_item,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="WebhookChangeOf")


@_attrs_define
class WebhookChangeOf:
    """
    Attributes:
        url (None | str | Unset): where to send events: an https URL
        kinds (list[WebhookChangeOfKindsType0Item] | None | Unset): the kinds of events to send; none: all that the key
            sees
        description (None | str | Unset): for people
        enabled (bool | None | Unset): false drops what waits to be sent; true starts afresh
    """

    url: None | str | Unset = UNSET
    kinds: list[WebhookChangeOfKindsType0Item] | None | Unset = UNSET
    description: None | str | Unset = UNSET
    enabled: bool | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        url: None | str | Unset
        if isinstance(self.url, Unset):
            url = UNSET
        else:
            url = self.url

        kinds: list[str] | None | Unset
        if isinstance(self.kinds, Unset):
            kinds = UNSET
        elif isinstance(self.kinds, list):
            kinds = []
            for kinds_type_0_item_data in self.kinds:
                kinds_type_0_item: str = kinds_type_0_item_data
                kinds.append(kinds_type_0_item)

        else:
            kinds = self.kinds

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        enabled: bool | None | Unset
        if isinstance(self.enabled, Unset):
            enabled = UNSET
        else:
            enabled = self.enabled

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if url is not UNSET:
            field_dict["url"] = url
        if kinds is not UNSET:
            field_dict["kinds"] = kinds
        if description is not UNSET:
            field_dict["description"] = description
        if enabled is not UNSET:
            field_dict["enabled"] = enabled

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        url = _parse_url(d.pop("url", UNSET))

        def _parse_kinds(
            data: object,
        ) -> list[WebhookChangeOfKindsType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                kinds_type_0 = []
                _kinds_type_0 = data
                for kinds_type_0_item_data in _kinds_type_0:
                    kinds_type_0_item = check_webhook_change_of_kinds_type_0_item(
                        kinds_type_0_item_data
                    )

                    kinds_type_0.append(kinds_type_0_item)

                return kinds_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[WebhookChangeOfKindsType0Item] | None | Unset, data)

        kinds = _parse_kinds(d.pop("kinds", UNSET))

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        def _parse_enabled(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        enabled = _parse_enabled(d.pop("enabled", UNSET))

        webhook_change_of = cls(
            url=url,
            kinds=kinds,
            description=description,
            enabled=enabled,
        )

        return webhook_change_of
