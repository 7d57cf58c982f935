from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.admin_reindex_language import (
    AdminReindexLanguage,
    check_admin_reindex_language,
)
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
        language (AdminReindexLanguage | Unset): language that keyword search takes its texts for from the swap on;
            auto: each chunk tells its own; left out: as it is
        min_overlap (float | Unset): lowest comparison.overlap that swaps; below it the new vectors are held; default: 0
        embedding_model (None | str | Unset): embedding model that it has of its own from the swap on, by the id that
            GET /models?kind=embedding lists; empty: the server's default again; left out: as it is
    """

    force: bool | Unset = UNSET
    hold: bool | Unset = UNSET
    back: bool | Unset = UNSET
    queries: list[str] | Unset = UNSET
    language: AdminReindexLanguage | Unset = UNSET
    min_overlap: float | Unset = UNSET
    embedding_model: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        force = self.force

        hold = self.hold

        back = self.back

        queries: list[str] | Unset = UNSET
        if not isinstance(self.queries, Unset):
            queries = self.queries

        language: str | Unset = UNSET
        if not isinstance(self.language, Unset):
            language = self.language

        min_overlap = self.min_overlap

        embedding_model: None | str | Unset
        if isinstance(self.embedding_model, Unset):
            embedding_model = UNSET
        else:
            embedding_model = self.embedding_model

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
        if language is not UNSET:
            field_dict["language"] = language
        if min_overlap is not UNSET:
            field_dict["min_overlap"] = min_overlap
        if embedding_model is not UNSET:
            field_dict["embedding_model"] = embedding_model

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        force = d.pop("force", UNSET)

        hold = d.pop("hold", UNSET)

        back = d.pop("back", UNSET)

        queries = cast(list[str], d.pop("queries", UNSET))

        _language = d.pop("language", UNSET)
        language: AdminReindexLanguage | Unset
        if isinstance(_language, Unset):
            language = UNSET
        else:
            language = check_admin_reindex_language(_language)

        min_overlap = d.pop("min_overlap", UNSET)

        def _parse_embedding_model(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        embedding_model = _parse_embedding_model(d.pop("embedding_model", UNSET))

        admin_reindex = cls(
            force=force,
            hold=hold,
            back=back,
            queries=queries,
            language=language,
            min_overlap=min_overlap,
            embedding_model=embedding_model,
        )

        return admin_reindex
