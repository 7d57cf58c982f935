from typing import Literal, cast

SourceBegunMode = Literal["full", "incremental"]


def check_source_begun_mode(value: str) -> SourceBegunMode:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourceBegunMode, value)
