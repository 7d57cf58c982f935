from typing import Literal, cast

SourceBegunTrigger = Literal["config", "create", "manual", "schedule"]


def check_source_begun_trigger(value: str) -> SourceBegunTrigger:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourceBegunTrigger, value)
