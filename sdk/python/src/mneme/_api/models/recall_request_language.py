from typing import Literal, cast

RecallRequestLanguage = Literal[
    "ar", "auto", "de", "en", "es", "fr", "hi", "it", "nl", "pt", "ru", "sv", "tr"
]


def check_recall_request_language(value: str) -> RecallRequestLanguage:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(RecallRequestLanguage, value)
