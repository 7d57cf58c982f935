from typing import Literal, cast

MemoryContextQueryLanguage = Literal[
    "ar", "auto", "de", "en", "es", "fr", "hi", "it", "nl", "pt", "ru", "sv", "tr"
]


def check_memory_context_query_language(value: str) -> MemoryContextQueryLanguage:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(MemoryContextQueryLanguage, value)
