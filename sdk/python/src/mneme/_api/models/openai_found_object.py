from typing import Literal, cast

OpenaiFoundObject = Literal["vector_store.search_results.page"]


def check_openai_found_object(value: str) -> OpenaiFoundObject:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiFoundObject, value)
