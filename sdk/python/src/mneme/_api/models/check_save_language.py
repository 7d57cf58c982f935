from typing import Literal, cast

CheckSaveLanguage = Literal[
    "ar", "auto", "de", "en", "es", "fr", "hi", "it", "nl", "pt", "ru", "sv", "tr"
]


def check_check_save_language(value: str) -> CheckSaveLanguage:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(CheckSaveLanguage, value)
