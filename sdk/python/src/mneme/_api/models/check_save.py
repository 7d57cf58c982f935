from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.check_save_language import CheckSaveLanguage, check_check_save_language
from ..models.check_save_mode import CheckSaveMode, check_check_save_mode
from ..models.check_save_retrievers_type_0_item import (
    CheckSaveRetrieversType0Item,
    check_check_save_retrievers_type_0_item,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.check_save_weights_type_0 import CheckSaveWeightsType0
    from ..models.filter_ import Filter
    from ..models.query_rerank import QueryRerank


T = TypeVar("T", bound="CheckSave")


@_attrs_define
class CheckSave:
    """
    Attributes:
        query (str): the question
        expect (list[str]): ids of the documents that must be among the first; none: whatever is found passes, and a run
            says what has changed
        within (int | None | Unset): how many documents are the first; default: 10
        retrievers (list[CheckSaveRetrieversType0Item] | None | Unset): which retrievers are asked; default: all that
            the namespace has
        mode (CheckSaveMode | Unset): short for retrievers: all, or one
        weights (CheckSaveWeightsType0 | None | Unset): how much each retriever counts, as in a query
        language (CheckSaveLanguage | Unset): language that keyword search takes the query for, as in a query
        filter_ (Filter | Unset): Conditions on metadata, all of which must hold. A plain value is the same as {"$eq":
            value}. Values compare as text, and an array matches by any of its items. At most 256 conditions, 16 levels
            deep.
        rerank (bool | None | QueryRerank | Unset): whether, and how, a model rescores what was found; default: false
        min_score (float | None | Unset): least score of a document; only with rerank or with the vector retriever alone
    """

    query: str
    expect: list[str]
    within: int | None | Unset = UNSET
    retrievers: list[CheckSaveRetrieversType0Item] | None | Unset = UNSET
    mode: CheckSaveMode | Unset = UNSET
    weights: CheckSaveWeightsType0 | None | Unset = UNSET
    language: CheckSaveLanguage | Unset = UNSET
    filter_: Filter | Unset = UNSET
    rerank: bool | None | QueryRerank | Unset = UNSET
    min_score: float | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.check_save_weights_type_0 import CheckSaveWeightsType0
        from ..models.query_rerank import QueryRerank

        query = self.query

        expect = self.expect

        within: int | None | Unset
        if isinstance(self.within, Unset):
            within = UNSET
        else:
            within = self.within

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
        elif isinstance(self.weights, CheckSaveWeightsType0):
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

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "query": query,
                "expect": expect,
            }
        )
        if within is not UNSET:
            field_dict["within"] = within
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

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.check_save_weights_type_0 import CheckSaveWeightsType0
        from ..models.filter_ import Filter
        from ..models.query_rerank import QueryRerank

        d = dict(src_dict)
        query = d.pop("query")

        expect = cast(list[str], d.pop("expect"))

        def _parse_within(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        within = _parse_within(d.pop("within", UNSET))

        def _parse_retrievers(
            data: object,
        ) -> list[CheckSaveRetrieversType0Item] | None | Unset:
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
                    retrievers_type_0_item = check_check_save_retrievers_type_0_item(
                        retrievers_type_0_item_data
                    )

                    retrievers_type_0.append(retrievers_type_0_item)

                return retrievers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[CheckSaveRetrieversType0Item] | None | Unset, data)

        retrievers = _parse_retrievers(d.pop("retrievers", UNSET))

        _mode = d.pop("mode", UNSET)
        mode: CheckSaveMode | Unset
        if isinstance(_mode, Unset):
            mode = UNSET
        else:
            mode = check_check_save_mode(_mode)

        def _parse_weights(data: object) -> CheckSaveWeightsType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                weights_type_0 = CheckSaveWeightsType0.from_dict(data)

                return weights_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CheckSaveWeightsType0 | None | Unset, data)

        weights = _parse_weights(d.pop("weights", UNSET))

        _language = d.pop("language", UNSET)
        language: CheckSaveLanguage | Unset
        if isinstance(_language, Unset):
            language = UNSET
        else:
            language = check_check_save_language(_language)

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

        check_save = cls(
            query=query,
            expect=expect,
            within=within,
            retrievers=retrievers,
            mode=mode,
            weights=weights,
            language=language,
            filter_=filter_,
            rerank=rerank,
            min_score=min_score,
        )

        return check_save
