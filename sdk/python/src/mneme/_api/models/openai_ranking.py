from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.openai_ranking_ranker import (
    OpenaiRankingRanker,
    check_openai_ranking_ranker,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="OpenaiRanking")


@_attrs_define
class OpenaiRanking:
    """
    Attributes:
        ranker (OpenaiRankingRanker | Unset): none: as the retrievers rank; else by this server's rerank model, if it
            has one; default: none
        score_threshold (float | None | Unset): least score of a result; above 0 it needs a rerank model
    """

    ranker: OpenaiRankingRanker | Unset = UNSET
    score_threshold: float | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        ranker: str | Unset = UNSET
        if not isinstance(self.ranker, Unset):
            ranker = self.ranker

        score_threshold: float | None | Unset
        if isinstance(self.score_threshold, Unset):
            score_threshold = UNSET
        else:
            score_threshold = self.score_threshold

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if ranker is not UNSET:
            field_dict["ranker"] = ranker
        if score_threshold is not UNSET:
            field_dict["score_threshold"] = score_threshold

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        _ranker = d.pop("ranker", UNSET)
        ranker: OpenaiRankingRanker | Unset
        if isinstance(_ranker, Unset):
            ranker = UNSET
        else:
            ranker = check_openai_ranking_ranker(_ranker)

        def _parse_score_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        score_threshold = _parse_score_threshold(d.pop("score_threshold", UNSET))

        openai_ranking = cls(
            ranker=ranker,
            score_threshold=score_threshold,
        )

        return openai_ranking
