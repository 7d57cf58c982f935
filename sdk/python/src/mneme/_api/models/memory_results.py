from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.degraded import Degraded
    from ..models.memory_result import MemoryResult


T = TypeVar("T", bound="MemoryResults")


@_attrs_define
class MemoryResults:
    """
    Attributes:
        success (bool):
        results (list[MemoryResult]): best first, one for each memory
        degraded (list[Degraded]): parts left out of this answer, or that took part with less, and why
    """

    success: bool
    results: list[MemoryResult]
    degraded: list[Degraded]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        success = self.success

        results = []
        for results_item_data in self.results:
            results_item = results_item_data.to_dict()
            results.append(results_item)

        degraded = []
        for degraded_item_data in self.degraded:
            degraded_item = degraded_item_data.to_dict()
            degraded.append(degraded_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "success": success,
                "results": results,
                "degraded": degraded,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.degraded import Degraded
        from ..models.memory_result import MemoryResult

        d = dict(src_dict)
        success = d.pop("success")

        results = []
        _results = d.pop("results")
        for results_item_data in _results:
            results_item = MemoryResult.from_dict(results_item_data)

            results.append(results_item)

        degraded = []
        _degraded = d.pop("degraded")
        for degraded_item_data in _degraded:
            degraded_item = Degraded.from_dict(degraded_item_data)

            degraded.append(degraded_item)

        memory_results = cls(
            success=success,
            results=results,
            degraded=degraded,
        )

        memory_results.additional_properties = d
        return memory_results

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
