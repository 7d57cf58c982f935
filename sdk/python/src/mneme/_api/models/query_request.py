from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.query_request_language import (
    QueryRequestLanguage,
    check_query_request_language,
)
from ..models.query_request_mode import QueryRequestMode, check_query_request_mode
from ..models.query_request_retrievers_type_0_item import (
    QueryRequestRetrieversType0Item,
    check_query_request_retrievers_type_0_item,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.filter_ import Filter
    from ..models.query_request_weights_type_0 import QueryRequestWeightsType0
    from ..models.query_rerank import QueryRerank


T = TypeVar("T", bound="QueryRequest")


@_attrs_define
class QueryRequest:
    """
    Attributes:
        query (str): the question
        top_k (int | None | Unset): chunks to answer; default: 10
        retrievers (list[QueryRequestRetrieversType0Item] | None | Unset): how to look for candidates; default: all that
            the namespace has
        mode (QueryRequestMode | Unset): short for retrievers: all, or one
        weights (None | QueryRequestWeightsType0 | Unset): how much each retriever counts in the fusion; those not named
            keep the configured weight, and one of weight 0 is not asked
        language (QueryRequestLanguage | Unset): language that keyword search takes the query for; auto: it tells;
            default: that of the namespace
        filter_ (Filter | Unset): Conditions on metadata, all of which must hold. A plain value is the same as {"$eq":
            value}. Values compare as text, and an array matches by any of its items. At most 256 conditions, 16 levels
            deep.
        rerank (bool | None | QueryRerank | Unset): whether, and how, a model rescores the candidates; default: false
        min_score (float | None | Unset): least score of a hit; only with rerank or with the vector retriever alone; not
            applied to an answer whose reranking degraded
        max_chunks_per_document (int | None | Unset): 1 gives one hit for each document; default: 100
        neighbors (int | None | Unset): 0-2 adjacent chunks on each side; default: 0
        include_text (bool | None | Unset): whether hits have their text; default: true
        include_metadata (bool | None | Unset): whether hits have their metadata; default: true
        explain (bool | None | Unset): adds ranks and scores per retriever; default: false
        strict (bool | None | Unset): whether a failed retriever or reranker fails the query, instead of being named in
            degraded; default: false
    """

    query: str
    top_k: int | None | Unset = UNSET
    retrievers: list[QueryRequestRetrieversType0Item] | None | Unset = UNSET
    mode: QueryRequestMode | Unset = UNSET
    weights: None | QueryRequestWeightsType0 | Unset = UNSET
    language: QueryRequestLanguage | Unset = UNSET
    filter_: Filter | Unset = UNSET
    rerank: bool | None | QueryRerank | Unset = UNSET
    min_score: float | None | Unset = UNSET
    max_chunks_per_document: int | None | Unset = UNSET
    neighbors: int | None | Unset = UNSET
    include_text: bool | None | Unset = UNSET
    include_metadata: bool | None | Unset = UNSET
    explain: bool | None | Unset = UNSET
    strict: bool | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.query_request_weights_type_0 import QueryRequestWeightsType0
        from ..models.query_rerank import QueryRerank

        query = self.query

        top_k: int | None | Unset
        if isinstance(self.top_k, Unset):
            top_k = UNSET
        else:
            top_k = self.top_k

        retrievers: list[str] | None | Unset
        if isinstance(self.retrievers, Unset):
            retrievers = UNSET
        elif isinstance(self.retrievers, list):
            retrievers = []
            for retrievers_type_0_item_data in self.retrievers:
                retrievers_type_0_item: str = retrievers_type_0_item_data
                retrievers.append(retrievers_type_0_item)

        else:
            retrievers = self.retrievers

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode

        weights: dict[str, Any] | None | Unset
        if isinstance(self.weights, Unset):
            weights = UNSET
        elif isinstance(self.weights, QueryRequestWeightsType0):
            weights = self.weights.to_dict()
        else:
            weights = self.weights

        language: str | Unset = UNSET
        if not isinstance(self.language, Unset):
            language = self.language

        filter_: dict[str, Any] | Unset = UNSET
        if not isinstance(self.filter_, Unset):
            filter_ = self.filter_.to_dict()

        rerank: bool | dict[str, Any] | None | Unset
        if isinstance(self.rerank, Unset):
            rerank = UNSET
        elif isinstance(self.rerank, QueryRerank):
            rerank = self.rerank.to_dict()
        else:
            rerank = self.rerank

        min_score: float | None | Unset
        if isinstance(self.min_score, Unset):
            min_score = UNSET
        else:
            min_score = self.min_score

        max_chunks_per_document: int | None | Unset
        if isinstance(self.max_chunks_per_document, Unset):
            max_chunks_per_document = UNSET
        else:
            max_chunks_per_document = self.max_chunks_per_document

        neighbors: int | None | Unset
        if isinstance(self.neighbors, Unset):
            neighbors = UNSET
        else:
            neighbors = self.neighbors

        include_text: bool | None | Unset
        if isinstance(self.include_text, Unset):
            include_text = UNSET
        else:
            include_text = self.include_text

        include_metadata: bool | None | Unset
        if isinstance(self.include_metadata, Unset):
            include_metadata = UNSET
        else:
            include_metadata = self.include_metadata

        explain: bool | None | Unset
        if isinstance(self.explain, Unset):
            explain = UNSET
        else:
            explain = self.explain

        strict: bool | None | Unset
        if isinstance(self.strict, Unset):
            strict = UNSET
        else:
            strict = self.strict

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "query": query,
            }
        )
        if top_k is not UNSET:
            field_dict["top_k"] = top_k
        if retrievers is not UNSET:
            field_dict["retrievers"] = retrievers
        if mode is not UNSET:
            field_dict["mode"] = mode
        if weights is not UNSET:
            field_dict["weights"] = weights
        if language is not UNSET:
            field_dict["language"] = language
        if filter_ is not UNSET:
            field_dict["filter"] = filter_
        if rerank is not UNSET:
            field_dict["rerank"] = rerank
        if min_score is not UNSET:
            field_dict["min_score"] = min_score
        if max_chunks_per_document is not UNSET:
            field_dict["max_chunks_per_document"] = max_chunks_per_document
        if neighbors is not UNSET:
            field_dict["neighbors"] = neighbors
        if include_text is not UNSET:
            field_dict["include_text"] = include_text
        if include_metadata is not UNSET:
            field_dict["include_metadata"] = include_metadata
        if explain is not UNSET:
            field_dict["explain"] = explain
        if strict is not UNSET:
            field_dict["strict"] = strict

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.filter_ import Filter
        from ..models.query_request_weights_type_0 import QueryRequestWeightsType0
        from ..models.query_rerank import QueryRerank

        d = dict(src_dict)
        query = d.pop("query")

        def _parse_top_k(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        top_k = _parse_top_k(d.pop("top_k", UNSET))

        def _parse_retrievers(
            data: object,
        ) -> list[QueryRequestRetrieversType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                retrievers_type_0 = []
                _retrievers_type_0 = data
                for retrievers_type_0_item_data in _retrievers_type_0:
                    retrievers_type_0_item = check_query_request_retrievers_type_0_item(
                        retrievers_type_0_item_data
                    )

                    retrievers_type_0.append(retrievers_type_0_item)

                return retrievers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[QueryRequestRetrieversType0Item] | None | Unset, data)

        retrievers = _parse_retrievers(d.pop("retrievers", UNSET))

        _mode = d.pop("mode", UNSET)
        mode: QueryRequestMode | Unset
        if isinstance(_mode, Unset):
            mode = UNSET
        else:
            mode = check_query_request_mode(_mode)

        def _parse_weights(data: object) -> None | QueryRequestWeightsType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                weights_type_0 = QueryRequestWeightsType0.from_dict(data)

                return weights_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | QueryRequestWeightsType0 | Unset, data)

        weights = _parse_weights(d.pop("weights", UNSET))

        _language = d.pop("language", UNSET)
        language: QueryRequestLanguage | Unset
        if isinstance(_language, Unset):
            language = UNSET
        else:
            language = check_query_request_language(_language)

        _filter_ = d.pop("filter", UNSET)
        filter_: Filter | Unset
        if isinstance(_filter_, Unset):
            filter_ = UNSET
        else:
            filter_ = Filter.from_dict(_filter_)

        def _parse_rerank(data: object) -> bool | None | QueryRerank | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                rerank_type_1 = QueryRerank.from_dict(data)

                return rerank_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(bool | None | QueryRerank | Unset, data)

        rerank = _parse_rerank(d.pop("rerank", UNSET))

        def _parse_min_score(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        min_score = _parse_min_score(d.pop("min_score", UNSET))

        def _parse_max_chunks_per_document(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_chunks_per_document = _parse_max_chunks_per_document(
            d.pop("max_chunks_per_document", UNSET)
        )

        def _parse_neighbors(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        neighbors = _parse_neighbors(d.pop("neighbors", UNSET))

        def _parse_include_text(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        include_text = _parse_include_text(d.pop("include_text", UNSET))

        def _parse_include_metadata(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        include_metadata = _parse_include_metadata(d.pop("include_metadata", UNSET))

        def _parse_explain(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        explain = _parse_explain(d.pop("explain", UNSET))

        def _parse_strict(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        strict = _parse_strict(d.pop("strict", UNSET))

        query_request = cls(
            query=query,
            top_k=top_k,
            retrievers=retrievers,
            mode=mode,
            weights=weights,
            language=language,
            filter_=filter_,
            rerank=rerank,
            min_score=min_score,
            max_chunks_per_document=max_chunks_per_document,
            neighbors=neighbors,
            include_text=include_text,
            include_metadata=include_metadata,
            explain=explain,
            strict=strict,
        )

        return query_request
