from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.check_saved_language import CheckSavedLanguage, check_check_saved_language
from ..models.check_saved_mode import CheckSavedMode, check_check_saved_mode
from ..models.check_saved_retrievers_item import (
    CheckSavedRetrieversItem,
    check_check_saved_retrievers_item,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.check_saved_weights import CheckSavedWeights
    from ..models.filter_ import Filter
    from ..models.query_rerank_output import QueryRerankOutput


T = TypeVar("T", bound="CheckSaved")


@_attrs_define
class CheckSaved:
    """
    Attributes:
        name (str):
        query (str): the question
        expect (list[str]): ids of the documents that must be among the first; none: whatever is found passes, and a run
            says what has changed
        found (list[str]): ids of the first documents when it was saved, best first
        created_at (datetime.datetime):
        updated_at (datetime.datetime): when it was saved last
        within (int | Unset): how many documents are the first; default: 10
        retrievers (list[CheckSavedRetrieversItem] | Unset): which retrievers are asked; default: all that the namespace
            has
        mode (CheckSavedMode | Unset): short for retrievers: all, or one
        weights (CheckSavedWeights | Unset): how much each retriever counts, as in a query
        language (CheckSavedLanguage | Unset): language that keyword search takes the query for, as in a query
        filter_ (Filter | Unset): Conditions on metadata, all of which must hold. A plain value is the same as {"$eq":
            value}. Values compare as text, and an array matches by any of its items. At most 256 conditions, 16 levels
            deep.
        rerank (bool | None | QueryRerankOutput | Unset): whether, and how, a model rescores what was found; default:
            false
        min_score (float | Unset): least score of a document; only with rerank or with the vector retriever alone
    """

    name: str
    query: str
    expect: list[str]
    found: list[str]
    created_at: datetime.datetime
    updated_at: datetime.datetime
    within: int | Unset = UNSET
    retrievers: list[CheckSavedRetrieversItem] | Unset = UNSET
    mode: CheckSavedMode | Unset = UNSET
    weights: CheckSavedWeights | Unset = UNSET
    language: CheckSavedLanguage | Unset = UNSET
    filter_: Filter | Unset = UNSET
    rerank: bool | None | QueryRerankOutput | Unset = UNSET
    min_score: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.query_rerank_output import QueryRerankOutput

        name = self.name

        query = self.query

        expect = self.expect

        found = self.found

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        within = self.within

        retrievers: list[str] | Unset = UNSET
        if not isinstance(self.retrievers, Unset):
            retrievers = []
            for retrievers_item_data in self.retrievers:
                retrievers_item: str = retrievers_item_data
                retrievers.append(retrievers_item)

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode

        weights: dict[str, Any] | Unset = UNSET
        if not isinstance(self.weights, Unset):
            weights = self.weights.to_dict()

        language: str | Unset = UNSET
        if not isinstance(self.language, Unset):
            language = self.language

        filter_: dict[str, Any] | Unset = UNSET
        if not isinstance(self.filter_, Unset):
            filter_ = self.filter_.to_dict()

        rerank: bool | dict[str, Any] | None | Unset
        if isinstance(self.rerank, Unset):
            rerank = UNSET
        elif isinstance(self.rerank, QueryRerankOutput):
            rerank = self.rerank.to_dict()
        else:
            rerank = self.rerank

        min_score = self.min_score

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "query": query,
                "expect": expect,
                "found": found,
                "created_at": created_at,
                "updated_at": updated_at,
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
        from ..models.check_saved_weights import CheckSavedWeights
        from ..models.filter_ import Filter
        from ..models.query_rerank_output import QueryRerankOutput

        d = dict(src_dict)
        name = d.pop("name")

        query = d.pop("query")

        expect = cast(list[str], d.pop("expect"))

        found = cast(list[str], d.pop("found"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        within = d.pop("within", UNSET)

        _retrievers = d.pop("retrievers", UNSET)
        retrievers: list[CheckSavedRetrieversItem] | Unset = UNSET
        if _retrievers is not UNSET:
            retrievers = []
            for retrievers_item_data in _retrievers:
                retrievers_item = check_check_saved_retrievers_item(
                    retrievers_item_data
                )

                retrievers.append(retrievers_item)

        _mode = d.pop("mode", UNSET)
        mode: CheckSavedMode | Unset
        if isinstance(_mode, Unset):
            mode = UNSET
        else:
            mode = check_check_saved_mode(_mode)

        _weights = d.pop("weights", UNSET)
        weights: CheckSavedWeights | Unset
        if isinstance(_weights, Unset):
            weights = UNSET
        else:
            weights = CheckSavedWeights.from_dict(_weights)

        _language = d.pop("language", UNSET)
        language: CheckSavedLanguage | Unset
        if isinstance(_language, Unset):
            language = UNSET
        else:
            language = check_check_saved_language(_language)

        _filter_ = d.pop("filter", UNSET)
        filter_: Filter | Unset
        if isinstance(_filter_, Unset):
            filter_ = UNSET
        else:
            filter_ = Filter.from_dict(_filter_)

        def _parse_rerank(data: object) -> bool | None | QueryRerankOutput | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                rerank_type_1 = QueryRerankOutput.from_dict(data)

                return rerank_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(bool | None | QueryRerankOutput | Unset, data)

        rerank = _parse_rerank(d.pop("rerank", UNSET))

        min_score = d.pop("min_score", UNSET)

        check_saved = cls(
            name=name,
            query=query,
            expect=expect,
            found=found,
            created_at=created_at,
            updated_at=updated_at,
            within=within,
            retrievers=retrievers,
            mode=mode,
            weights=weights,
            language=language,
            filter_=filter_,
            rerank=rerank,
            min_score=min_score,
        )

        check_saved.additional_properties = d
        return check_saved

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
