from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.metadata import Metadata


T = TypeVar("T", bound="Memory")


@_attrs_define
class Memory:
    """
    Attributes:
        id (str):
        content (str):
        container_tag (None | str): its container; null: none
        metadata (Metadata): At most 32 keys and 40960 bytes. Keys have 1-128 characters and don't start with $. Values
            are strings, numbers, booleans and arrays of at most 1000 strings.
        created_at (int): Unix milliseconds
        updated_at (int): Unix milliseconds
        source (None | str): of a source-owned memory; else null
        external_id (None | str): of a source-owned memory; else null
    """

    id: str
    content: str
    container_tag: None | str
    metadata: Metadata
    created_at: int
    updated_at: int
    source: None | str
    external_id: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        content = self.content

        container_tag: None | str
        container_tag = self.container_tag

        metadata = self.metadata.to_dict()

        created_at = self.created_at

        updated_at = self.updated_at

        source: None | str
        source = self.source

        external_id: None | str
        external_id = self.external_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "content": content,
                "containerTag": container_tag,
                "metadata": metadata,
                "created_at": created_at,
                "updated_at": updated_at,
                "source": source,
                "externalId": external_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.metadata import Metadata

        d = dict(src_dict)
        id = d.pop("id")

        content = d.pop("content")

        def _parse_container_tag(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        container_tag = _parse_container_tag(d.pop("containerTag"))

        metadata = Metadata.from_dict(d.pop("metadata"))

        created_at = d.pop("created_at")

        updated_at = d.pop("updated_at")

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

        memory = cls(
            id=id,
            content=content,
            container_tag=container_tag,
            metadata=metadata,
            created_at=created_at,
            updated_at=updated_at,
            source=source,
            external_id=external_id,
        )

        memory.additional_properties = d
        return memory

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
