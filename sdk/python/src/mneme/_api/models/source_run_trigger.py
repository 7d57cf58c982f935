from typing import Literal, cast

SourceRunTrigger = Literal["config", "create", "manual", "schedule"]


def check_source_run_trigger(value: str) -> SourceRunTrigger:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourceRunTrigger, value)
