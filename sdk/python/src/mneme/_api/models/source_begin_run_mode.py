from typing import Literal, cast

SourceBeginRunMode = Literal["full"]


def check_source_begin_run_mode(value: str) -> SourceBeginRunMode:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourceBeginRunMode, value)
