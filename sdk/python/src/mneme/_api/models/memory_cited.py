from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="MemoryCited")


@_attrs_define
class MemoryCited:
    """
    Attributes:
        marker (int): its number in the block
        memory_id (str):
        start (int): UTF-8 byte offset, in the memory's content, of what the block shows of it
        end (int): UTF-8 byte offset after it
        score (float): 0-1; higher is better
        container_tag (str): its container; empty: none
        created_at (int): Unix milliseconds
    """

    marker: int
    memory_id: str
    start: int
    end: int
    score: float
    container_tag: str
    created_at: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        marker = self.marker

        memory_id = self.memory_id

        start = self.start

        end = self.end

        score = self.score

        container_tag = self.container_tag

        created_at = self.created_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "marker": marker,
                "memoryId": memory_id,
                "start": start,
                "end": end,
                "score": score,
                "container_tag": container_tag,
                "created_at": created_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        marker = d.pop("marker")

        memory_id = d.pop("memoryId")

        start = d.pop("start")

        end = d.pop("end")

        score = d.pop("score")

        container_tag = d.pop("container_tag")

        created_at = d.pop("created_at")

        memory_cited = cls(
            marker=marker,
            memory_id=memory_id,
            start=start,
            end=end,
            score=score,
            container_tag=container_tag,
            created_at=created_at,
        )

        memory_cited.additional_properties = d
        return memory_cited

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
