from typing import Literal, cast

MemoryMessageRole = Literal["assistant", "developer", "system", "tool", "user"]


def check_memory_message_role(value: str) -> MemoryMessageRole:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemoryMessageRole, value)
