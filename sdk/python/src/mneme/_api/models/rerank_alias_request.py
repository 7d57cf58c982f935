from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.rerank_alias_request_rank_fields_type_0_item import (
    RerankAliasRequestRankFieldsType0Item,
    check_rerank_alias_request_rank_fields_type_0_item,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.rerank_alias_request_documents_item_type_1 import (
        RerankAliasRequestDocumentsItemType1,
    )


T = TypeVar("T", bound="RerankAliasRequest")


@_attrs_define
class RerankAliasRequest:
    """
    Attributes:
        query (str): the question, at most 8192 characters
        documents (list[RerankAliasRequestDocumentsItemType1 | str]): texts, or objects with a text; a server may be
            configured for up to 1000
        model (None | str | Unset): a rerank model of this server, or an alias of one; empty or absent: the default
        top_n (int | None | Unset): how many to answer; default: all
        return_documents (bool | None | Unset): default true for /v1/rerank, false for /v2/rerank
        max_tokens_per_doc (int | None | Unset): the model's window applies, too
        max_chunks_per_doc (int | None | Unset): one chunk of the model's window is read
        rank_fields (list[RerankAliasRequestRankFieldsType0Item] | None | Unset): documents are ranked by their text
        truncation (bool | None | Unset): texts are cut at the model's window
        truncate (bool | None | Unset): the same
        return_embeddings (bool | None | Unset): no embeddings are answered
        priority (int | None | Unset): without effect
        user (None | str | Unset): without effect
    """

    query: str
    documents: list[RerankAliasRequestDocumentsItemType1 | str]
    model: None | str | Unset = UNSET
    top_n: int | None | Unset = UNSET
    return_documents: bool | None | Unset = UNSET
    max_tokens_per_doc: int | None | Unset = UNSET
    max_chunks_per_doc: int | None | Unset = UNSET
    rank_fields: list[RerankAliasRequestRankFieldsType0Item] | None | Unset = UNSET
    truncation: bool | None | Unset = UNSET
    truncate: bool | None | Unset = UNSET
    return_embeddings: bool | None | Unset = UNSET
    priority: int | None | Unset = UNSET
    user: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.rerank_alias_request_documents_item_type_1 import (
            RerankAliasRequestDocumentsItemType1,
        )

        query = self.query

        documents = []
        for documents_item_data in self.documents:
            documents_item: dict[str, Any] | str
            if isinstance(documents_item_data, RerankAliasRequestDocumentsItemType1):
                documents_item = documents_item_data.to_dict()
            else:
                documents_item = documents_item_data
            documents.append(documents_item)

        model: None | str | Unset
        if isinstance(self.model, Unset):
            model = UNSET
        else:
            model = self.model

        top_n: int | None | Unset
        if isinstance(self.top_n, Unset):
            top_n = UNSET
        else:
            top_n = self.top_n

        return_documents: bool | None | Unset
        if isinstance(self.return_documents, Unset):
            return_documents = UNSET
        else:
            return_documents = self.return_documents

        max_tokens_per_doc: int | None | Unset
        if isinstance(self.max_tokens_per_doc, Unset):
            max_tokens_per_doc = UNSET
        else:
            max_tokens_per_doc = self.max_tokens_per_doc

        max_chunks_per_doc: int | None | Unset
        if isinstance(self.max_chunks_per_doc, Unset):
            max_chunks_per_doc = UNSET
        else:
            max_chunks_per_doc = self.max_chunks_per_doc

        rank_fields: list[str] | None | Unset
        if isinstance(self.rank_fields, Unset):
            rank_fields = UNSET
        elif isinstance(self.rank_fields, list):
            rank_fields = []
            for rank_fields_type_0_item_data in self.rank_fields:
                rank_fields_type_0_item: str = rank_fields_type_0_item_data
                rank_fields.append(rank_fields_type_0_item)

        else:
            rank_fields = self.rank_fields

        truncation: bool | None | Unset
        if isinstance(self.truncation, Unset):
            truncation = UNSET
        else:
            truncation = self.truncation

        truncate: bool | None | Unset
        if isinstance(self.truncate, Unset):
            truncate = UNSET
        else:
            truncate = self.truncate

        return_embeddings: bool | None | Unset
        if isinstance(self.return_embeddings, Unset):
            return_embeddings = UNSET
        else:
            return_embeddings = self.return_embeddings

        priority: int | None | Unset
        if isinstance(self.priority, Unset):
            priority = UNSET
        else:
            priority = self.priority

        user: None | str | Unset
        if isinstance(self.user, Unset):
            user = UNSET
        else:
            user = self.user

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "query": query,
                "documents": documents,
            }
        )
        if model is not UNSET:
            field_dict["model"] = model
        if top_n is not UNSET:
            field_dict["top_n"] = top_n
        if return_documents is not UNSET:
            field_dict["return_documents"] = return_documents
        if max_tokens_per_doc is not UNSET:
            field_dict["max_tokens_per_doc"] = max_tokens_per_doc
        if max_chunks_per_doc is not UNSET:
            field_dict["max_chunks_per_doc"] = max_chunks_per_doc
        if rank_fields is not UNSET:
            field_dict["rank_fields"] = rank_fields
        if truncation is not UNSET:
            field_dict["truncation"] = truncation
        if truncate is not UNSET:
            field_dict["truncate"] = truncate
        if return_embeddings is not UNSET:
            field_dict["return_embeddings"] = return_embeddings
        if priority is not UNSET:
            field_dict["priority"] = priority
        if user is not UNSET:
            field_dict["user"] = user

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.rerank_alias_request_documents_item_type_1 import (
            RerankAliasRequestDocumentsItemType1,
        )

        d = dict(src_dict)
        query = d.pop("query")

        documents = []
        _documents = d.pop("documents")
        for documents_item_data in _documents:

            def _parse_documents_item(
                data: object,
            ) -> RerankAliasRequestDocumentsItemType1 | str:
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    documents_item_type_1 = (
                        RerankAliasRequestDocumentsItemType1.from_dict(data)
                    )

                    return documents_item_type_1
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                return cast(RerankAliasRequestDocumentsItemType1 | str, data)

            documents_item = _parse_documents_item(documents_item_data)

            documents.append(documents_item)

        def _parse_model(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        model = _parse_model(d.pop("model", UNSET))

        def _parse_top_n(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        top_n = _parse_top_n(d.pop("top_n", UNSET))

        def _parse_return_documents(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        return_documents = _parse_return_documents(d.pop("return_documents", UNSET))

        def _parse_max_tokens_per_doc(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_tokens_per_doc = _parse_max_tokens_per_doc(
            d.pop("max_tokens_per_doc", UNSET)
        )

        def _parse_max_chunks_per_doc(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_chunks_per_doc = _parse_max_chunks_per_doc(
            d.pop("max_chunks_per_doc", UNSET)
        )

        def _parse_rank_fields(
            data: object,
        ) -> list[RerankAliasRequestRankFieldsType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                rank_fields_type_0 = []
                _rank_fields_type_0 = data
                for rank_fields_type_0_item_data in _rank_fields_type_0:
                    rank_fields_type_0_item = (
                        check_rerank_alias_request_rank_fields_type_0_item(
                            rank_fields_type_0_item_data
                        )
                    )

                    rank_fields_type_0.append(rank_fields_type_0_item)

                return rank_fields_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[RerankAliasRequestRankFieldsType0Item] | None | Unset, data
            )

        rank_fields = _parse_rank_fields(d.pop("rank_fields", UNSET))

        def _parse_truncation(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        truncation = _parse_truncation(d.pop("truncation", UNSET))

        def _parse_truncate(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        truncate = _parse_truncate(d.pop("truncate", UNSET))

        def _parse_return_embeddings(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        return_embeddings = _parse_return_embeddings(d.pop("return_embeddings", UNSET))

        def _parse_priority(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        priority = _parse_priority(d.pop("priority", UNSET))

        def _parse_user(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        user = _parse_user(d.pop("user", UNSET))

        rerank_alias_request = cls(
            query=query,
            documents=documents,
            model=model,
            top_n=top_n,
            return_documents=return_documents,
            max_tokens_per_doc=max_tokens_per_doc,
            max_chunks_per_doc=max_chunks_per_doc,
            rank_fields=rank_fields,
            truncation=truncation,
            truncate=truncate,
            return_embeddings=return_embeddings,
            priority=priority,
            user=user,
        )

        return rerank_alias_request
