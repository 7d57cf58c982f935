from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="QueryRerank")


@_attrs_define
class QueryRerank:
    """
    Attributes:
        model (str | Unset): a rerank model of this server
        depth (int | None | Unset): candidates to score; default top_k x 2, at most what the server is configured to
            (40)
    """

    model: str | Unset = UNSET
    depth: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        model = self.model

        depth: int | None | Unset
        if isinstance(self.depth, Unset):
            depth = UNSET
        else:
            depth = self.depth

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if model is not UNSET:
            field_dict["model"] = model
        if depth is not UNSET:
            field_dict["depth"] = depth

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        model = d.pop("model", UNSET)

        def _parse_depth(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        depth = _parse_depth(d.pop("depth", UNSET))

        query_rerank = cls(
            model=model,
            depth=depth,
        )

        return query_rerank
