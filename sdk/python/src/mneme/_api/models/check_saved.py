from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.check_saved_mode import CheckSavedMode, check_check_saved_mode
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.filter_ import Filter


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
        mode (CheckSavedMode | Unset): which retrievers are asked; default: all that the namespace has
        filter_ (Filter | Unset): Conditions on metadata, all of which must hold. A plain value is the same as {"$eq":
            value}. Values compare as text, and an array matches by any of its items. At most 256 conditions, 16 levels
            deep.
        rerank (bool | Unset): whether a model rescores the candidates; default: false
        min_score (float | Unset): least score of a document; only with rerank or the mode vector
    """

    name: str
    query: str
    expect: list[str]
    found: list[str]
    created_at: datetime.datetime
    updated_at: datetime.datetime
    within: int | Unset = UNSET
    mode: CheckSavedMode | Unset = UNSET
    filter_: Filter | Unset = UNSET
    rerank: bool | Unset = UNSET
    min_score: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        query = self.query

        expect = self.expect

        found = self.found

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        within = self.within

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode

        filter_: dict[str, Any] | Unset = UNSET
        if not isinstance(self.filter_, Unset):
            filter_ = self.filter_.to_dict()

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
        name = d.pop("name")

        query = d.pop("query")

        expect = cast(list[str], d.pop("expect"))

        found = cast(list[str], d.pop("found"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        within = d.pop("within", UNSET)

        _mode = d.pop("mode", UNSET)
        mode: CheckSavedMode | Unset
        if isinstance(_mode, Unset):
            mode = UNSET
        else:
            mode = check_check_saved_mode(_mode)

        _filter_ = d.pop("filter", UNSET)
        filter_: Filter | Unset
        if isinstance(_filter_, Unset):
            filter_ = UNSET
        else:
            filter_ = Filter.from_dict(_filter_)

        rerank = d.pop("rerank", UNSET)

        min_score = d.pop("min_score", UNSET)

        check_saved = cls(
            name=name,
            query=query,
            expect=expect,
            found=found,
            created_at=created_at,
            updated_at=updated_at,
            within=within,
            mode=mode,
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
