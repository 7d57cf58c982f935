from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="DocumentChunk")


@_attrs_define
class DocumentChunk:
    """
    Attributes:
        index (int): position in the document
        start (int): UTF-8 byte offset into the text
        end (int): UTF-8 byte offset after it
        text (str):
        heading (str | Unset): headings above it, outermost first, with ' > ' between them; outer ones are left out
            where all would be long
    """

    index: int
    start: int
    end: int
    text: str
    heading: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        index = self.index

        start = self.start

        end = self.end

        text = self.text

        heading = self.heading

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "index": index,
                "start": start,
                "end": end,
                "text": text,
            }
        )
        if heading is not UNSET:
            field_dict["heading"] = heading

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        index = d.pop("index")

        start = d.pop("start")

        end = d.pop("end")

        text = d.pop("text")

        heading = d.pop("heading", UNSET)

        document_chunk = cls(
            index=index,
            start=start,
            end=end,
            text=text,
            heading=heading,
        )

        document_chunk.additional_properties = d
        return document_chunk

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
