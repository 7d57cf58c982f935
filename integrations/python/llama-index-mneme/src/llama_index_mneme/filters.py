"""LlamaIndex's filters in the server's form."""

from __future__ import annotations

from typing import Any

from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

_JOINED = {None: "$and", FilterCondition.AND: "$and", FilterCondition.OR: "$or"}


def server_filter(filters: MetadataFilters | MetadataFilter) -> dict[str, Any]:
    """The same filter for the server. ValueError for what it can't do: ranges, negations, parts of texts."""
    if isinstance(filters, MetadataFilters):
        if not filters.filters:
            raise ValueError("an empty filter restricts nothing; pass None to search everything")
        if filters.condition not in _JOINED:
            raise ValueError(f"the server has no filter with {filters.condition.value!r}: and, or are there")
        parts = [server_filter(one) for one in filters.filters]
        return parts[0] if len(parts) == 1 else {_JOINED[filters.condition]: parts}
    key, value = filters.key, filters.value
    match filters.operator:
        case FilterOperator.EQ | FilterOperator.CONTAINS if value is not None and not isinstance(value, list):
            return {key: value}
        case FilterOperator.IN | FilterOperator.ANY if isinstance(value, list):
            return {key: {"$in": value}}
        case FilterOperator.ALL if isinstance(value, list) and value:
            return {"$and": [{key: one} for one in value]}
    raise ValueError(
        f"the server has no filter {key} {filters.operator.value} {value!r}: == and contains with one value are there, "
        "in, any and all with a list"
    )
