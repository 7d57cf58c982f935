from typing import Literal, cast

QueryResultScoreKind = Literal["bm25", "cosine", "fused", "rerank", "sparse"]


def check_query_result_score_kind(value: str) -> QueryResultScoreKind:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(QueryResultScoreKind, value)
