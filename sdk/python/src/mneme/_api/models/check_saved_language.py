from typing import Literal, cast

CheckSavedLanguage = Literal[
    "ar", "auto", "de", "en", "es", "fr", "hi", "it", "nl", "pt", "ru", "sv", "tr"
]


def check_check_saved_language(value: str) -> CheckSavedLanguage:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(CheckSavedLanguage, value)
