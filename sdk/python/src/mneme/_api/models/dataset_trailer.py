from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.dataset_counts import DatasetCounts


T = TypeVar("T", bound="DatasetTrailer")


@_attrs_define
class DatasetTrailer:
    """
    Attributes:
        counts (DatasetCounts):
        lines (int): before this one
    """

    counts: DatasetCounts
    lines: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        counts = self.counts.to_dict()

        lines = self.lines

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "counts": counts,
                "lines": lines,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.dataset_counts import DatasetCounts

        d = dict(src_dict)
        counts = DatasetCounts.from_dict(d.pop("counts"))

        lines = d.pop("lines")

        dataset_trailer = cls(
            counts=counts,
            lines=lines,
        )

        dataset_trailer.additional_properties = d
        return dataset_trailer

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
