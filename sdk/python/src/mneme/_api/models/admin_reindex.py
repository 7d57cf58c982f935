from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AdminReindex")


@_attrs_define
class AdminReindex:
    """
    Attributes:
        force (bool | Unset): also where the vectors are of the configured models; default: false
        hold (bool | Unset): build and compare, but keep serving the current vectors; the next call without hold swaps;
            default: false
        back (bool | Unset): go back to the vectors served before the last swap, with everything written since; force is
            ignored then; default: false
        queries (list[str] | Unset): queries to compare by; none: made from fifty random documents
        min_overlap (float | Unset): lowest comparison.overlap that swaps; below it the new vectors are held; default: 0
    """

    force: bool | Unset = UNSET
    hold: bool | Unset = UNSET
    back: bool | Unset = UNSET
    queries: list[str] | Unset = UNSET
    min_overlap: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        force = self.force

        hold = self.hold

        back = self.back

        queries: list[str] | Unset = UNSET
        if not isinstance(self.queries, Unset):
            queries = self.queries

        min_overlap = self.min_overlap

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if force is not UNSET:
            field_dict["force"] = force
        if hold is not UNSET:
            field_dict["hold"] = hold
        if back is not UNSET:
            field_dict["back"] = back
        if queries is not UNSET:
            field_dict["queries"] = queries
        if min_overlap is not UNSET:
            field_dict["min_overlap"] = min_overlap

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        force = d.pop("force", UNSET)

        hold = d.pop("hold", UNSET)

        back = d.pop("back", UNSET)

        queries = cast(list[str], d.pop("queries", UNSET))

        min_overlap = d.pop("min_overlap", UNSET)

        admin_reindex = cls(
            force=force,
            hold=hold,
            back=back,
            queries=queries,
            min_overlap=min_overlap,
        )

        return admin_reindex
