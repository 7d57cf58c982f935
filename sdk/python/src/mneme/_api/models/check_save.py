from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.check_save_mode import CheckSaveMode, check_check_save_mode
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.filter_ import Filter


T = TypeVar("T", bound="CheckSave")


@_attrs_define
class CheckSave:
    """
    Attributes:
        query (str): the question
        expect (list[str]): ids of the documents that must be among the first; none: whatever is found passes, and a run
            says what has changed
        within (int | None | Unset): how many documents are the first; default: 10
        mode (CheckSaveMode | Unset): which retrievers are asked; default: all that the namespace has
        filter_ (Filter | Unset): Conditions on metadata, all of which must hold. A plain value is the same as {"$eq":
            value}. Values compare as text, and an array matches by any of its items. At most 256 conditions, 16 levels
            deep.
        rerank (bool | Unset): whether a model rescores the candidates; default: false
        min_score (float | None | Unset): least score of a document; only with rerank or the mode vector
    """

    query: str
    expect: list[str]
    within: int | None | Unset = UNSET
    mode: CheckSaveMode | Unset = UNSET
    filter_: Filter | Unset = UNSET
    rerank: bool | Unset = UNSET
    min_score: float | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        query = self.query

        expect = self.expect

        within: int | None | Unset
        if isinstance(self.within, Unset):
            within = UNSET
        else:
            within = self.within

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode

        filter_: dict[str, Any] | Unset = UNSET
        if not isinstance(self.filter_, Unset):
            filter_ = self.filter_.to_dict()

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
        if mode is not UNSET:
            field_dict["mode"] = mode
        if filter_ is not UNSET:
            field_dict["filter"] = filter_
        if rerank is not UNSET:
            field_dict["rerank"] = rerank
        if min_score is not UNSET:
            field_dict["min_score"] = min_score

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.filter_ import Filter

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

        _mode = d.pop("mode", UNSET)
        mode: CheckSaveMode | Unset
        if isinstance(_mode, Unset):
            mode = UNSET
        else:
            mode = check_check_save_mode(_mode)

        _filter_ = d.pop("filter", UNSET)
        filter_: Filter | Unset
        if isinstance(_filter_, Unset):
            filter_ = UNSET
        else:
            filter_ = Filter.from_dict(_filter_)

        rerank = d.pop("rerank", UNSET)

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
            mode=mode,
            filter_=filter_,
            rerank=rerank,
            min_score=min_score,
        )

        return check_save
