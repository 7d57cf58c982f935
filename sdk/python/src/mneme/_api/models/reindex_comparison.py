from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ReindexComparison")


@_attrs_define
class ReindexComparison:
    """
    Attributes:
        queries (int): how many were asked
        overlap (float): mean share of the ten best documents that are the same
        found_before (float | None): of queries made from documents, the share that finds its own among the ten best,
            before; null: the caller's queries
        found_after (float | None): the same, after
    """

    queries: int
    overlap: float
    found_before: float | None
    found_after: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        queries = self.queries

        overlap = self.overlap

        found_before: float | None
        found_before = self.found_before

        found_after: float | None
        found_after = self.found_after

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "queries": queries,
                "overlap": overlap,
                "found_before": found_before,
                "found_after": found_after,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        queries = d.pop("queries")

        overlap = d.pop("overlap")

        def _parse_found_before(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        found_before = _parse_found_before(d.pop("found_before"))

        def _parse_found_after(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        found_after = _parse_found_after(d.pop("found_after"))

        reindex_comparison = cls(
            queries=queries,
            overlap=overlap,
            found_before=found_before,
            found_after=found_after,
        )

        reindex_comparison.additional_properties = d
        return reindex_comparison

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
