from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RerankRequest")


@_attrs_define
class RerankRequest:
    """
    Attributes:
        query (str): the question, at most 8192 characters
        documents (list[str]): texts to score, each cut at the model's window; a server may be configured for up to 1000
        top_k (int | None | Unset): how many to answer; default: all, up to 100
        model (None | str | Unset): a rerank model of this server, or an alias of one; absent: the default
    """

    query: str
    documents: list[str]
    top_k: int | None | Unset = UNSET
    model: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        query = self.query

        documents = self.documents

        top_k: int | None | Unset
        if isinstance(self.top_k, Unset):
            top_k = UNSET
        else:
            top_k = self.top_k

        model: None | str | Unset
        if isinstance(self.model, Unset):
            model = UNSET
        else:
            model = self.model

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "query": query,
                "documents": documents,
            }
        )
        if top_k is not UNSET:
            field_dict["top_k"] = top_k
        if model is not UNSET:
            field_dict["model"] = model

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        query = d.pop("query")

        documents = cast(list[str], d.pop("documents"))

        def _parse_top_k(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        top_k = _parse_top_k(d.pop("top_k", UNSET))

        def _parse_model(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        model = _parse_model(d.pop("model", UNSET))

        rerank_request = cls(
            query=query,
            documents=documents,
            top_k=top_k,
            model=model,
        )

        return rerank_request
