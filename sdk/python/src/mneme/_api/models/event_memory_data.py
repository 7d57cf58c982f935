from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="EventMemoryData")


@_attrs_define
class EventMemoryData:
    """
    Attributes:
        organization_id (str):
        integration_id (str):
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        memory_id (str):
        source (None | str): of a memory that a source owns; null: of any other
        external_id (None | str): its id in the source
        version (int | None): its version in the source
        change (int): number of the change of the end user's memories: it rises, until an erasure
        request_id (str | Unset): of the call that did it; none: the server did it by itself
    """

    organization_id: str
    integration_id: str
    end_user_id: str
    memory_id: str
    source: None | str
    external_id: None | str
    version: int | None
    change: int
    request_id: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        organization_id = self.organization_id

        integration_id = self.integration_id

        end_user_id = self.end_user_id

        memory_id = self.memory_id

        source: None | str
        source = self.source

        external_id: None | str
        external_id = self.external_id

        version: int | None
        version = self.version

        change = self.change

        request_id = self.request_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "organization_id": organization_id,
                "integration_id": integration_id,
                "endUserId": end_user_id,
                "memoryId": memory_id,
                "source": source,
                "externalId": external_id,
                "version": version,
                "change": change,
            }
        )
        if request_id is not UNSET:
            field_dict["requestId"] = request_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        organization_id = d.pop("organization_id")

        integration_id = d.pop("integration_id")

        end_user_id = d.pop("endUserId")

        memory_id = d.pop("memoryId")

        def _parse_source(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        source = _parse_source(d.pop("source"))

        def _parse_external_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        external_id = _parse_external_id(d.pop("externalId"))

        def _parse_version(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        version = _parse_version(d.pop("version"))

        change = d.pop("change")

        request_id = d.pop("requestId", UNSET)

        event_memory_data = cls(
            organization_id=organization_id,
            integration_id=integration_id,
            end_user_id=end_user_id,
            memory_id=memory_id,
            source=source,
            external_id=external_id,
            version=version,
            change=change,
            request_id=request_id,
        )

        event_memory_data.additional_properties = d
        return event_memory_data

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
