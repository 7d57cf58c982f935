from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.file_chunk import FileChunk
    from ..models.metadata import Metadata


T = TypeVar("T", bound="FileOutcome")


@_attrs_define
class FileOutcome:
    """
    Attributes:
        id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        created (bool | Unset): the id was new; not with dry_run or respond-async
        unchanged (bool | Unset): the same was stored already; not with dry_run or respond-async
        chunks (int | Unset): not with respond-async
        text (str | Unset): with dry_run; a form feed begins a page
        metadata (Metadata | Unset): At most 32 keys and 40960 bytes. Keys have 1-128 characters and don't start with $.
            Values are strings, numbers, booleans and arrays of at most 1000 strings.
        chunk_list (list[FileChunk] | Unset): with dry_run
    """

    id: str
    created: bool | Unset = UNSET
    unchanged: bool | Unset = UNSET
    chunks: int | Unset = UNSET
    text: str | Unset = UNSET
    metadata: Metadata | Unset = UNSET
    chunk_list: list[FileChunk] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        created = self.created

        unchanged = self.unchanged

        chunks = self.chunks

        text = self.text

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        chunk_list: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.chunk_list, Unset):
            chunk_list = []
            for chunk_list_item_data in self.chunk_list:
                chunk_list_item = chunk_list_item_data.to_dict()
                chunk_list.append(chunk_list_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
            }
        )
        if created is not UNSET:
            field_dict["created"] = created
        if unchanged is not UNSET:
            field_dict["unchanged"] = unchanged
        if chunks is not UNSET:
            field_dict["chunks"] = chunks
        if text is not UNSET:
            field_dict["text"] = text
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if chunk_list is not UNSET:
            field_dict["chunk_list"] = chunk_list

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.file_chunk import FileChunk
        from ..models.metadata import Metadata

        d = dict(src_dict)
        id = d.pop("id")

        created = d.pop("created", UNSET)

        unchanged = d.pop("unchanged", UNSET)

        chunks = d.pop("chunks", UNSET)

        text = d.pop("text", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: Metadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = Metadata.from_dict(_metadata)

        _chunk_list = d.pop("chunk_list", UNSET)
        chunk_list: list[FileChunk] | Unset = UNSET
        if _chunk_list is not UNSET:
            chunk_list = []
            for chunk_list_item_data in _chunk_list:
                chunk_list_item = FileChunk.from_dict(chunk_list_item_data)

                chunk_list.append(chunk_list_item)

        file_outcome = cls(
            id=id,
            created=created,
            unchanged=unchanged,
            chunks=chunks,
            text=text,
            metadata=metadata,
            chunk_list=chunk_list,
        )

        file_outcome.additional_properties = d
        return file_outcome

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
