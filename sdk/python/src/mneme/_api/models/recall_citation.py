from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="RecallCitation")


@_attrs_define
class RecallCitation:
    """
    Attributes:
        marker (int): its number in the answer
        memory_id (str):
        quote (str): a verbatim slice of the memory
        start (int): UTF-8 byte offset of the quote in the memory's content
        end (int): UTF-8 byte offset after it
        score (float): 0-1
        created_at (int): Unix milliseconds
    """

    marker: int
    memory_id: str
    quote: str
    start: int
    end: int
    score: float
    created_at: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        marker = self.marker

        memory_id = self.memory_id

        quote = self.quote

        start = self.start

        end = self.end

        score = self.score

        created_at = self.created_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "marker": marker,
                "memoryId": memory_id,
                "quote": quote,
                "start": start,
                "end": end,
                "score": score,
                "created_at": created_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        marker = d.pop("marker")

        memory_id = d.pop("memoryId")

        quote = d.pop("quote")

        start = d.pop("start")

        end = d.pop("end")

        score = d.pop("score")

        created_at = d.pop("created_at")

        recall_citation = cls(
            marker=marker,
            memory_id=memory_id,
            quote=quote,
            start=start,
            end=end,
            score=score,
            created_at=created_at,
        )

        recall_citation.additional_properties = d
        return recall_citation

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
