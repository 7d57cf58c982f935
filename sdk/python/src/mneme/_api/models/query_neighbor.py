from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="QueryNeighbor")


@_attrs_define
class QueryNeighbor:
    """
    Attributes:
        chunk_index (int):
        start (int):
        end (int):
        text (str | Unset):
    """

    chunk_index: int
    start: int
    end: int
    text: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        chunk_index = self.chunk_index

        start = self.start

        end = self.end

        text = self.text

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "chunk_index": chunk_index,
                "start": start,
                "end": end,
            }
        )
        if text is not UNSET:
            field_dict["text"] = text

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        chunk_index = d.pop("chunk_index")

        start = d.pop("start")

        end = d.pop("end")

        text = d.pop("text", UNSET)

        query_neighbor = cls(
            chunk_index=chunk_index,
            start=start,
            end=end,
            text=text,
        )

        query_neighbor.additional_properties = d
        return query_neighbor

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
