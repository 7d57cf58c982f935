from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.metadata import Metadata


T = TypeVar("T", bound="MemoryResult")


@_attrs_define
class MemoryResult:
    """
    Attributes:
        id (str):
        matched_content (str): the best part of the memory, at most 2000 characters
        original_length (int): characters of the whole memory
        container_tag (str): its container; empty: none
        score (float): 0-1; higher is better
        created_at (int): Unix milliseconds
        updated_at (int): Unix milliseconds
        metadata (Metadata): At most 32 keys and 40960 bytes. Keys have 1-128 characters and don't start with $. Values
            are strings, numbers, booleans and arrays of at most 1000 strings.
    """

    id: str
    matched_content: str
    original_length: int
    container_tag: str
    score: float
    created_at: int
    updated_at: int
    metadata: Metadata
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        matched_content = self.matched_content

        original_length = self.original_length

        container_tag = self.container_tag

        score = self.score

        created_at = self.created_at

        updated_at = self.updated_at

        metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "matchedContent": matched_content,
                "originalLength": original_length,
                "container_tag": container_tag,
                "score": score,
                "created_at": created_at,
                "updated_at": updated_at,
                "metadata": metadata,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.metadata import Metadata

        d = dict(src_dict)
        id = d.pop("id")

        matched_content = d.pop("matchedContent")

        original_length = d.pop("originalLength")

        container_tag = d.pop("container_tag")

        score = d.pop("score")

        created_at = d.pop("created_at")

        updated_at = d.pop("updated_at")

        metadata = Metadata.from_dict(d.pop("metadata"))

        memory_result = cls(
            id=id,
            matched_content=matched_content,
            original_length=original_length,
            container_tag=container_tag,
            score=score,
            created_at=created_at,
            updated_at=updated_at,
            metadata=metadata,
        )

        memory_result.additional_properties = d
        return memory_result

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
