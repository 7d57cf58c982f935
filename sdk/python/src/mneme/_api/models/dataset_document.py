from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.metadata import Metadata
    from ..models.port_origin import PortOrigin


T = TypeVar("T", bound="DatasetDocument")


@_attrs_define
class DatasetDocument:
    """
    Attributes:
        id (str):
        text (str):
        text_sha256 (str): SHA-256 of the text, in hexadecimal
        metadata_sha256 (str): SHA-256 of the metadata in their compact form with sorted keys, empty for none; in
            hexadecimal
        origin (PortOrigin):
        metadata (Metadata | Unset): At most 32 keys and 40960 bytes. Keys have 1-128 characters and don't start with $.
            Values are strings, numbers, booleans and arrays of at most 1000 strings.
        chunks (str | Unset): places of the chunks in the text, packed
        dense (str | Unset): vectors of the chunks, packed half floats
        sparse (str | Unset): learned-sparse vectors of the chunks, packed
        source_id (str | Unset):
        created_at (datetime.datetime | Unset):
        updated_at (datetime.datetime | Unset):
        container (str | Unset):
        content_key (str | Unset):
        source (str | Unset):
        external_id (str | Unset):
    """

    id: str
    text: str
    text_sha256: str
    metadata_sha256: str
    origin: PortOrigin
    metadata: Metadata | Unset = UNSET
    chunks: str | Unset = UNSET
    dense: str | Unset = UNSET
    sparse: str | Unset = UNSET
    source_id: str | Unset = UNSET
    created_at: datetime.datetime | Unset = UNSET
    updated_at: datetime.datetime | Unset = UNSET
    container: str | Unset = UNSET
    content_key: str | Unset = UNSET
    source: str | Unset = UNSET
    external_id: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        text = self.text

        text_sha256 = self.text_sha256

        metadata_sha256 = self.metadata_sha256

        origin = self.origin.to_dict()

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        chunks = self.chunks

        dense = self.dense

        sparse = self.sparse

        source_id = self.source_id

        created_at: str | Unset = UNSET
        if not isinstance(self.created_at, Unset):
            created_at = self.created_at.isoformat()

        updated_at: str | Unset = UNSET
        if not isinstance(self.updated_at, Unset):
            updated_at = self.updated_at.isoformat()

        container = self.container

        content_key = self.content_key

        source = self.source

        external_id = self.external_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "text": text,
                "text_sha256": text_sha256,
                "metadata_sha256": metadata_sha256,
                "origin": origin,
            }
        )
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if chunks is not UNSET:
            field_dict["chunks"] = chunks
        if dense is not UNSET:
            field_dict["dense"] = dense
        if sparse is not UNSET:
            field_dict["sparse"] = sparse
        if source_id is not UNSET:
            field_dict["source_id"] = source_id
        if created_at is not UNSET:
            field_dict["created_at"] = created_at
        if updated_at is not UNSET:
            field_dict["updated_at"] = updated_at
        if container is not UNSET:
            field_dict["container"] = container
        if content_key is not UNSET:
            field_dict["content_key"] = content_key
        if source is not UNSET:
            field_dict["source"] = source
        if external_id is not UNSET:
            field_dict["external_id"] = external_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.metadata import Metadata
        from ..models.port_origin import PortOrigin

        d = dict(src_dict)
        id = d.pop("id")

        text = d.pop("text")

        text_sha256 = d.pop("text_sha256")

        metadata_sha256 = d.pop("metadata_sha256")

        origin = PortOrigin.from_dict(d.pop("origin"))

        _metadata = d.pop("metadata", UNSET)
        metadata: Metadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = Metadata.from_dict(_metadata)

        chunks = d.pop("chunks", UNSET)

        dense = d.pop("dense", UNSET)

        sparse = d.pop("sparse", UNSET)

        source_id = d.pop("source_id", UNSET)

        _created_at = d.pop("created_at", UNSET)
        created_at: datetime.datetime | Unset
        if isinstance(_created_at, Unset):
            created_at = UNSET
        else:
            created_at = datetime.datetime.fromisoformat(_created_at)

        _updated_at = d.pop("updated_at", UNSET)
        updated_at: datetime.datetime | Unset
        if isinstance(_updated_at, Unset):
            updated_at = UNSET
        else:
            updated_at = datetime.datetime.fromisoformat(_updated_at)

        container = d.pop("container", UNSET)

        content_key = d.pop("content_key", UNSET)

        source = d.pop("source", UNSET)

        external_id = d.pop("external_id", UNSET)

        dataset_document = cls(
            id=id,
            text=text,
            text_sha256=text_sha256,
            metadata_sha256=metadata_sha256,
            origin=origin,
            metadata=metadata,
            chunks=chunks,
            dense=dense,
            sparse=sparse,
            source_id=source_id,
            created_at=created_at,
            updated_at=updated_at,
            container=container,
            content_key=content_key,
            source=source,
            external_id=external_id,
        )

        dataset_document.additional_properties = d
        return dataset_document

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
