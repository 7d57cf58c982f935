from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.memory_context_query_language import (
    MemoryContextQueryLanguage,
    check_memory_context_query_language,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="MemoryContextQuery")


@_attrs_define
class MemoryContextQuery:
    """
    Attributes:
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        query (str): the message that is to be answered
        max_tokens (int | None | Unset): the most tokens that the block may have; default: 1000
        limit (int | None | Unset): how many memories at most; default: 20
        passages (int | None | Unset): how many passages of documents at most, from the namespace that the key names; a
            key that names none gets none; default: 5
        language (MemoryContextQueryLanguage | Unset): language that keyword search takes the query for; auto: it tells;
            default: auto
        container_tag (str | Unset): 1-128 characters of A-Z a-z 0-9 . _ : -
        created_after (int | Unset): Unix milliseconds; only memories created after it
        created_before (int | Unset): Unix milliseconds; only memories created before it
    """

    end_user_id: str
    query: str
    max_tokens: int | None | Unset = UNSET
    limit: int | None | Unset = UNSET
    passages: int | None | Unset = UNSET
    language: MemoryContextQueryLanguage | Unset = UNSET
    container_tag: str | Unset = UNSET
    created_after: int | Unset = UNSET
    created_before: int | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        end_user_id = self.end_user_id

        query = self.query

        max_tokens: int | None | Unset
        if isinstance(self.max_tokens, Unset):
            max_tokens = UNSET
        else:
            max_tokens = self.max_tokens

        limit: int | None | Unset
        if isinstance(self.limit, Unset):
            limit = UNSET
        else:
            limit = self.limit

        passages: int | None | Unset
        if isinstance(self.passages, Unset):
            passages = UNSET
        else:
            passages = self.passages

        language: str | Unset = UNSET
        if not isinstance(self.language, Unset):
            language = self.language

        container_tag = self.container_tag

        created_after = self.created_after

        created_before = self.created_before

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "endUserId": end_user_id,
                "query": query,
            }
        )
        if max_tokens is not UNSET:
            field_dict["maxTokens"] = max_tokens
        if limit is not UNSET:
            field_dict["limit"] = limit
        if passages is not UNSET:
            field_dict["passages"] = passages
        if language is not UNSET:
            field_dict["language"] = language
        if container_tag is not UNSET:
            field_dict["containerTag"] = container_tag
        if created_after is not UNSET:
            field_dict["createdAfter"] = created_after
        if created_before is not UNSET:
            field_dict["createdBefore"] = created_before

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        end_user_id = d.pop("endUserId")

        query = d.pop("query")

        def _parse_max_tokens(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_tokens = _parse_max_tokens(d.pop("maxTokens", UNSET))

        def _parse_limit(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        limit = _parse_limit(d.pop("limit", UNSET))

        def _parse_passages(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        passages = _parse_passages(d.pop("passages", UNSET))

        _language = d.pop("language", UNSET)
        language: MemoryContextQueryLanguage | Unset
        if isinstance(_language, Unset):
            language = UNSET
        else:
            language = check_memory_context_query_language(_language)

        container_tag = d.pop("containerTag", UNSET)

        created_after = d.pop("createdAfter", UNSET)

        created_before = d.pop("createdBefore", UNSET)

        memory_context_query = cls(
            end_user_id=end_user_id,
            query=query,
            max_tokens=max_tokens,
            limit=limit,
            passages=passages,
            language=language,
            container_tag=container_tag,
            created_after=created_after,
            created_before=created_before,
        )

        return memory_context_query
