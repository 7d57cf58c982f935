from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="OpenaiFileCounts")


@_attrs_define
class OpenaiFileCounts:
    """
    Attributes:
        in_progress (int):
        completed (int): documents
        failed (int):
        cancelled (int):
        total (int): documents
    """

    in_progress: int
    completed: int
    failed: int
    cancelled: int
    total: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        in_progress = self.in_progress

        completed = self.completed

        failed = self.failed

        cancelled = self.cancelled

        total = self.total

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "in_progress": in_progress,
                "completed": completed,
                "failed": failed,
                "cancelled": cancelled,
                "total": total,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        in_progress = d.pop("in_progress")

        completed = d.pop("completed")

        failed = d.pop("failed")

        cancelled = d.pop("cancelled")

        total = d.pop("total")

        openai_file_counts = cls(
            in_progress=in_progress,
            completed=completed,
            failed=failed,
            cancelled=cancelled,
            total=total,
        )

        openai_file_counts.additional_properties = d
        return openai_file_counts

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
