from typing import Literal, cast

QueryRequestLanguage = Literal[
    "ar", "auto", "de", "en", "es", "fr", "hi", "it", "nl", "pt", "ru", "sv", "tr"
]


def check_query_request_language(value: str) -> QueryRequestLanguage:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(QueryRequestLanguage, value)
