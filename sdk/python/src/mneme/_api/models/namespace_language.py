from typing import Literal, cast

NamespaceLanguage = Literal[
    "ar", "auto", "de", "en", "es", "fr", "hi", "it", "nl", "pt", "ru", "sv", "tr"
]


def check_namespace_language(value: str) -> NamespaceLanguage:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(NamespaceLanguage, value)
