"""Haystack's filters: in the server's form for a search, evaluated here for everything else."""

from __future__ import annotations

from typing import Any

from haystack.errors import FilterError

_JOINED = {"AND": "$and", "OR": "$or"}


def server_filter(filters: dict[str, Any]) -> dict[str, Any]:
    """The same filter for the server. FilterError for what it can't do: ranges, negations, None, other fields."""
    if "field" not in filters:
        operator, conditions = filters.get("operator"), filters.get("conditions")
        if operator not in _JOINED or not isinstance(conditions, list) or not conditions:
            raise FilterError(f"a search joins conditions by AND or OR, at least one of them; got {filters}")
        return {_JOINED[operator]: [server_filter(one) for one in conditions]}
    operator, value = filters.get("operator"), filters.get("value")
    key = str(filters["field"]).removeprefix("meta.")
    if key == filters["field"]:
        raise FilterError(f"a search filters by fields of meta; got {key!r}")
    if operator == "==" and isinstance(value, (str, int, float)):
        return {key: value}
    if operator == "in" and isinstance(value, list) and value and all(isinstance(v, (str, int, float)) for v in value):
        return {key: {"$in": value}}
    raise FilterError(
        f"a search has no filter {key} {operator} {value!r}: == with a text, number or boolean and in with a list of "
        "them are there; filter_documents has the others"
    )


def reads(filters: dict[str, Any], field: str) -> bool:
    """Whether a filter asks for a field of the document itself."""
    if filters.get("field") == field:
        return True
    conditions = filters.get("conditions")
    return isinstance(conditions, list) and any(reads(one, field) for one in conditions if isinstance(one, dict))
