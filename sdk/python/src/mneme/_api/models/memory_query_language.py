from typing import Literal, cast

MemoryQueryLanguage = Literal[
    "ar", "auto", "de", "en", "es", "fr", "hi", "it", "nl", "pt", "ru", "sv", "tr"
]


def check_memory_query_language(value: str) -> MemoryQueryLanguage:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemoryQueryLanguage, value)
