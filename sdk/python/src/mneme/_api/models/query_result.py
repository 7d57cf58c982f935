from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.query_result_retrievers_item import (
    QueryResultRetrieversItem,
    check_query_result_retrievers_item,
)
from ..models.query_result_score_kind import (
    QueryResultScoreKind,
    check_query_result_score_kind,
)

if TYPE_CHECKING:
    from ..models.degraded import Degraded
    from ..models.query_hit import QueryHit


T = TypeVar("T", bound="QueryResult")


@_attrs_define
class QueryResult:
    """
    Attributes:
        results (list[QueryHit]): best first
        score_kind (QueryResultScoreKind): what the scores are
        model (None | str): the reranker that ran, else null
        retrievers (list[QueryResultRetrieversItem]): those that were used
        degraded (list[Degraded]): parts left out of this answer, or that took part with less, and why
        truncated_candidates (int): texts cut at the reranker's window
        took_ms (int): milliseconds on the server
    """

    results: list[QueryHit]
    score_kind: QueryResultScoreKind
    model: None | str
    retrievers: list[QueryResultRetrieversItem]
    degraded: list[Degraded]
    truncated_candidates: int
    took_ms: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        results = []
        for results_item_data in self.results:
            results_item = results_item_data.to_dict()
            results.append(results_item)

        score_kind: str = self.score_kind

        model: None | str
        model = self.model

        retrievers = []
        for retrievers_item_data in self.retrievers:
            retrievers_item: str = retrievers_item_data
            retrievers.append(retrievers_item)

        degraded = []
        for degraded_item_data in self.degraded:
            degraded_item = degraded_item_data.to_dict()
            degraded.append(degraded_item)

        truncated_candidates = self.truncated_candidates

        took_ms = self.took_ms

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "results": results,
                "score_kind": score_kind,
                "model": model,
                "retrievers": retrievers,
                "degraded": degraded,
                "truncated_candidates": truncated_candidates,
                "took_ms": took_ms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.degraded import Degraded
        from ..models.query_hit import QueryHit

        d = dict(src_dict)
        results = []
        _results = d.pop("results")
        for results_item_data in _results:
            results_item = QueryHit.from_dict(results_item_data)

            results.append(results_item)

        score_kind = check_query_result_score_kind(d.pop("score_kind"))

        def _parse_model(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        model = _parse_model(d.pop("model"))

        retrievers = []
        _retrievers = d.pop("retrievers")
        for retrievers_item_data in _retrievers:
            retrievers_item = check_query_result_retrievers_item(retrievers_item_data)

            retrievers.append(retrievers_item)

        degraded = []
        _degraded = d.pop("degraded")
        for degraded_item_data in _degraded:
            degraded_item = Degraded.from_dict(degraded_item_data)

            degraded.append(degraded_item)

        truncated_candidates = d.pop("truncated_candidates")

        took_ms = d.pop("took_ms")

        query_result = cls(
            results=results,
            score_kind=score_kind,
            model=model,
            retrievers=retrievers,
            degraded=degraded,
            truncated_candidates=truncated_candidates,
            took_ms=took_ms,
        )

        query_result.additional_properties = d
        return query_result

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
