from typing import Literal, cast

OpenaiRankingRanker = Literal["auto", "default-2024-11-15", "none"]


def check_openai_ranking_ranker(value: str) -> OpenaiRankingRanker:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiRankingRanker, value)
