from typing import Literal, cast

MemoryMessageOutcomeOutcome = Literal["created", "unchanged", "updated"]


def check_memory_message_outcome_outcome(value: str) -> MemoryMessageOutcomeOutcome:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemoryMessageOutcomeOutcome, value)
