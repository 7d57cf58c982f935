"""Metadata between AutoGen, where it may be any JSON, and the server, which keeps what it can filter by."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

REST = "_json"
"""The key of what the server has no form for, as JSON: it comes back, and no search filters by it."""


def pack(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as the server takes it. TypeError where a value is not JSON."""
    plain = {key: value for key, value in metadata.items() if _holds(key, value)}
    rest = {key: value for key, value in metadata.items() if key not in plain}
    return {**plain, REST: json.dumps(rest, ensure_ascii=False)} if rest else plain


def unpack(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What was packed."""
    whole = dict(metadata)
    rest = whole.pop(REST, None)
    return {**whole, **json.loads(rest)} if rest else whole


def _holds(key: str, value: Any) -> bool:
    if key == REST or not 1 <= len(key) <= 128 or key.startswith("$"):
        return False
    match value:
        case bool() | str():
            return True
        case int():
            return abs(value) < 2**53
        case float():
            return math.isfinite(value)
        case list():
            return len(value) <= 1000 and all(isinstance(one, str) for one in value)
    return False
