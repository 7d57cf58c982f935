from typing import Literal, cast

OpenaiContentType = Literal["text"]


def check_openai_content_type(value: str) -> OpenaiContentType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiContentType, value)
