from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="EventKeyData")


@_attrs_define
class EventKeyData:
    """
    Attributes:
        organization_id (str):
        key_id (str):
        type_ (str): kind of key, such as service
        integration_id (None | str): of an integration's or a personal key; null: of any other
        created_by (None | str): id of the key that made it, cli or bootstrap; null: not known
    """

    organization_id: str
    key_id: str
    type_: str
    integration_id: None | str
    created_by: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        organization_id = self.organization_id

        key_id = self.key_id

        type_ = self.type_

        integration_id: None | str
        integration_id = self.integration_id

        created_by: None | str
        created_by = self.created_by

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "organization_id": organization_id,
                "key_id": key_id,
                "type": type_,
                "integration_id": integration_id,
                "created_by": created_by,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        organization_id = d.pop("organization_id")

        key_id = d.pop("key_id")

        type_ = d.pop("type")

        def _parse_integration_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        integration_id = _parse_integration_id(d.pop("integration_id"))

        def _parse_created_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        created_by = _parse_created_by(d.pop("created_by"))

        event_key_data = cls(
            organization_id=organization_id,
            key_id=key_id,
            type_=type_,
            integration_id=integration_id,
            created_by=created_by,
        )

        event_key_data.additional_properties = d
        return event_key_data

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
