from typing import Literal, cast

AdminNamespaceLanguage = Literal[
    "ar", "auto", "de", "en", "es", "fr", "hi", "it", "nl", "pt", "ru", "sv", "tr"
]


def check_admin_namespace_language(value: str) -> AdminNamespaceLanguage:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminNamespaceLanguage, value)
