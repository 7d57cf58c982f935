from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.admin_export_memory_type import (
    AdminExportMemoryType,
    check_admin_export_memory_type,
)

if TYPE_CHECKING:
    from ..models.metadata import Metadata


T = TypeVar("T", bound="AdminExportMemory")


@_attrs_define
class AdminExportMemory:
    """
    Attributes:
        type_ (AdminExportMemoryType):
        id (str):
        content (str):
        container_tag (None | str):
        metadata (Metadata): At most 32 keys and 40960 bytes. Keys have 1-128 characters and don't start with $. Values
            are strings, numbers, booleans and arrays of at most 1000 strings.
        source (None | str):
        external_id (None | str):
        created_at (datetime.datetime):
        updated_at (datetime.datetime):
    """

    type_: AdminExportMemoryType
    id: str
    content: str
    container_tag: None | str
    metadata: Metadata
    source: None | str
    external_id: None | str
    created_at: datetime.datetime
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_: str = self.type_

        id = self.id

        content = self.content

        container_tag: None | str
        container_tag = self.container_tag

        metadata = self.metadata.to_dict()

        source: None | str
        source = self.source

        external_id: None | str
        external_id = self.external_id

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "id": id,
                "content": content,
                "container_tag": container_tag,
                "metadata": metadata,
                "source": source,
                "external_id": external_id,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.metadata import Metadata

        d = dict(src_dict)
        type_ = check_admin_export_memory_type(d.pop("type"))

        id = d.pop("id")

        content = d.pop("content")

        def _parse_container_tag(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        container_tag = _parse_container_tag(d.pop("container_tag"))

        metadata = Metadata.from_dict(d.pop("metadata"))

        def _parse_source(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        source = _parse_source(d.pop("source"))

        def _parse_external_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        external_id = _parse_external_id(d.pop("external_id"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        admin_export_memory = cls(
            type_=type_,
            id=id,
            content=content,
            container_tag=container_tag,
            metadata=metadata,
            source=source,
            external_id=external_id,
            created_at=created_at,
            updated_at=updated_at,
        )

        admin_export_memory.additional_properties = d
        return admin_export_memory

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
