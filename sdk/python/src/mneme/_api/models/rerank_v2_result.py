from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.rerank_alias_scored import RerankAliasScored
    from ..models.rerank_meta import RerankMeta


T = TypeVar("T", bound="RerankV2Result")


@_attrs_define
class RerankV2Result:
    """
    Attributes:
        id (str): the request's id
        results (list[RerankAliasScored]): best first
        meta (RerankMeta):
    """

    id: str
    results: list[RerankAliasScored]
    meta: RerankMeta
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        results = []
        for results_item_data in self.results:
            results_item = results_item_data.to_dict()
            results.append(results_item)

        meta = self.meta.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "results": results,
                "meta": meta,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.rerank_alias_scored import RerankAliasScored
        from ..models.rerank_meta import RerankMeta

        d = dict(src_dict)
        id = d.pop("id")

        results = []
        _results = d.pop("results")
        for results_item_data in _results:
            results_item = RerankAliasScored.from_dict(results_item_data)

            results.append(results_item)

        meta = RerankMeta.from_dict(d.pop("meta"))

        rerank_v2_result = cls(
            id=id,
            results=results,
            meta=meta,
        )

        rerank_v2_result.additional_properties = d
        return rerank_v2_result

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
