from typing import Literal, cast

NamespaceCreatedLanguage = Literal[
    "ar", "auto", "de", "en", "es", "fr", "hi", "it", "nl", "pt", "ru", "sv", "tr"
]


def check_namespace_created_language(value: str) -> NamespaceCreatedLanguage:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(NamespaceCreatedLanguage, value)
