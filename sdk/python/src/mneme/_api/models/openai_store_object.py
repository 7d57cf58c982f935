from typing import Literal, cast

OpenaiStoreObject = Literal["vector_store"]


def check_openai_store_object(value: str) -> OpenaiStoreObject:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiStoreObject, value)
