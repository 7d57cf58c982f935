from typing import Literal, cast

SourceRunMode = Literal["full", "incremental"]


def check_source_run_mode(value: str) -> SourceRunMode:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourceRunMode, value)
