from typing import Literal, cast

RerankAliasRequestRankFieldsType0Item = Literal["text"]


def check_rerank_alias_request_rank_fields_type_0_item(
    value: str,
) -> RerankAliasRequestRankFieldsType0Item:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(RerankAliasRequestRankFieldsType0Item, value)
