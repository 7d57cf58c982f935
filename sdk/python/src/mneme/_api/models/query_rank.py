from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.query_span import QuerySpan


T = TypeVar("T", bound="QueryRank")


@_attrs_define
class QueryRank:
    """
    Attributes:
        rank (int): place in the list, from 1
        score (float): score in the list
        terms (list[str] | Unset): terms of the query that the chunk has
        spans (list[QuerySpan] | Unset): keyword: where the chunk's text has words of the query, in rising order; absent
            where the index does not tell, empty where its headings alone have them
    """

    rank: int
    score: float
    terms: list[str] | Unset = UNSET
    spans: list[QuerySpan] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        rank = self.rank

        score = self.score

        terms: list[str] | Unset = UNSET
        if not isinstance(self.terms, Unset):
            terms = self.terms

        spans: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.spans, Unset):
            spans = []
            for spans_item_data in self.spans:
                spans_item = spans_item_data.to_dict()
                spans.append(spans_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "rank": rank,
                "score": score,
            }
        )
        if terms is not UNSET:
            field_dict["terms"] = terms
        if spans is not UNSET:
            field_dict["spans"] = spans

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.query_span import QuerySpan

        d = dict(src_dict)
        rank = d.pop("rank")

        score = d.pop("score")

        terms = cast(list[str], d.pop("terms", UNSET))

        _spans = d.pop("spans", UNSET)
        spans: list[QuerySpan] | Unset = UNSET
        if _spans is not UNSET:
            spans = []
            for spans_item_data in _spans:
                spans_item = QuerySpan.from_dict(spans_item_data)

                spans.append(spans_item)

        query_rank = cls(
            rank=rank,
            score=score,
            terms=terms,
            spans=spans,
        )

        query_rank.additional_properties = d
        return query_rank

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
