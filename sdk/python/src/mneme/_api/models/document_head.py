from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.metadata import Metadata


T = TypeVar("T", bound="DocumentHead")


@_attrs_define
class DocumentHead:
    """
    Attributes:
        id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        metadata (Metadata): At most 32 keys and 40960 bytes. Keys have 1-128 characters and don't start with $. Values
            are strings, numbers, booleans and arrays of at most 1000 strings.
        chunks (int): how many chunks it was cut into
        content_hash (str): SHA-256 over text and metadata; the ETag
        source_id (None | str): of the source that keeps it; null: it was written directly
        created_at (datetime.datetime):
        updated_at (datetime.datetime):
    """

    id: str
    metadata: Metadata
    chunks: int
    content_hash: str
    source_id: None | str
    created_at: datetime.datetime
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        metadata = self.metadata.to_dict()

        chunks = self.chunks

        content_hash = self.content_hash

        source_id: None | str
        source_id = self.source_id

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "metadata": metadata,
                "chunks": chunks,
                "content_hash": content_hash,
                "source_id": source_id,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.metadata import Metadata

        d = dict(src_dict)
        id = d.pop("id")

        metadata = Metadata.from_dict(d.pop("metadata"))

        chunks = d.pop("chunks")

        content_hash = d.pop("content_hash")

        def _parse_source_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        source_id = _parse_source_id(d.pop("source_id"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        document_head = cls(
            id=id,
            metadata=metadata,
            chunks=chunks,
            content_hash=content_hash,
            source_id=source_id,
            created_at=created_at,
            updated_at=updated_at,
        )

        document_head.additional_properties = d
        return document_head

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
