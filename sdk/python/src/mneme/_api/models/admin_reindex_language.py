from typing import Literal, cast

AdminReindexLanguage = Literal[
    "ar", "auto", "de", "en", "es", "fr", "hi", "it", "nl", "pt", "ru", "sv", "tr"
]


def check_admin_reindex_language(value: str) -> AdminReindexLanguage:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminReindexLanguage, value)
