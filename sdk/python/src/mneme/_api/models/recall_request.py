from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.recall_request_language import (
    RecallRequestLanguage,
    check_recall_request_language,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="RecallRequest")


@_attrs_define
class RecallRequest:
    """
    Attributes:
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        query (str): the question
        limit (int | None | Unset): how many memories to use at most; default: 8
        max_answer_tokens (int | None | Unset): how long the answer may be; default: 400
        language (RecallRequestLanguage | Unset): language that keyword search takes the query for; auto: it tells;
            default: auto
        container_tag (str | Unset): 1-128 characters of A-Z a-z 0-9 . _ : -
        created_after (int | Unset): Unix milliseconds; only memories created after it
        created_before (int | Unset): Unix milliseconds; only memories created before it
    """

    end_user_id: str
    query: str
    limit: int | None | Unset = UNSET
    max_answer_tokens: int | None | Unset = UNSET
    language: RecallRequestLanguage | Unset = UNSET
    container_tag: str | Unset = UNSET
    created_after: int | Unset = UNSET
    created_before: int | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        end_user_id = self.end_user_id

        query = self.query

        limit: int | None | Unset
        if isinstance(self.limit, Unset):
            limit = UNSET
        else:
            limit = self.limit

        max_answer_tokens: int | None | Unset
        if isinstance(self.max_answer_tokens, Unset):
            max_answer_tokens = UNSET
        else:
            max_answer_tokens = self.max_answer_tokens

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
        if limit is not UNSET:
            field_dict["limit"] = limit
        if max_answer_tokens is not UNSET:
            field_dict["maxAnswerTokens"] = max_answer_tokens
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

        def _parse_limit(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        limit = _parse_limit(d.pop("limit", UNSET))

        def _parse_max_answer_tokens(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_answer_tokens = _parse_max_answer_tokens(d.pop("maxAnswerTokens", UNSET))

        _language = d.pop("language", UNSET)
        language: RecallRequestLanguage | Unset
        if isinstance(_language, Unset):
            language = UNSET
        else:
            language = check_recall_request_language(_language)

        container_tag = d.pop("containerTag", UNSET)

        created_after = d.pop("createdAfter", UNSET)

        created_before = d.pop("createdBefore", UNSET)

        recall_request = cls(
            end_user_id=end_user_id,
            query=query,
            limit=limit,
            max_answer_tokens=max_answer_tokens,
            language=language,
            container_tag=container_tag,
            created_after=created_after,
            created_before=created_before,
        )

        return recall_request
