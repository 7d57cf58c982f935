from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.metadata import Metadata


T = TypeVar("T", bound="DocumentInput")


@_attrs_define
class DocumentInput:
    """
    Attributes:
        id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        text (str): at most 262144 bytes of UTF-8
        metadata (Metadata | Unset): At most 32 keys and 40960 bytes. Keys have 1-128 characters and don't start with $.
            Values are strings, numbers, booleans and arrays of at most 1000 strings.
    """

    id: str
    text: str
    metadata: Metadata | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        text = self.text

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "text": text,
            }
        )
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.metadata import Metadata

        d = dict(src_dict)
        id = d.pop("id")

        text = d.pop("text")

        _metadata = d.pop("metadata", UNSET)
        metadata: Metadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = Metadata.from_dict(_metadata)

        document_input = cls(
            id=id,
            text=text,
            metadata=metadata,
        )

        return document_input
