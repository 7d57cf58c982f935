from typing import Literal, cast

CreateNamespaceLanguage = Literal[
    "ar", "auto", "de", "en", "es", "fr", "hi", "it", "nl", "pt", "ru", "sv", "tr"
]


def check_create_namespace_language(value: str) -> CreateNamespaceLanguage:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(CreateNamespaceLanguage, value)
