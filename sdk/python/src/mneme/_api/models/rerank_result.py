from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.rerank_scored import RerankScored


T = TypeVar("T", bound="RerankResult")


@_attrs_define
class RerankResult:
    """
    Attributes:
        results (list[RerankScored]): best first
        model (str):
        truncated (int): texts cut at the model's window, and one more where the query was
    """

    results: list[RerankScored]
    model: str
    truncated: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        results = []
        for results_item_data in self.results:
            results_item = results_item_data.to_dict()
            results.append(results_item)

        model = self.model

        truncated = self.truncated

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "results": results,
                "model": model,
                "truncated": truncated,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.rerank_scored import RerankScored

        d = dict(src_dict)
        results = []
        _results = d.pop("results")
        for results_item_data in _results:
            results_item = RerankScored.from_dict(results_item_data)

            results.append(results_item)

        model = d.pop("model")

        truncated = d.pop("truncated")

        rerank_result = cls(
            results=results,
            model=model,
            truncated=truncated,
        )

        rerank_result.additional_properties = d
        return rerank_result

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
