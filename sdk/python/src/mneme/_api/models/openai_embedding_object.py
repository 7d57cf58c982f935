from typing import Literal, cast

OpenaiEmbeddingObject = Literal["embedding"]


def check_openai_embedding_object(value: str) -> OpenaiEmbeddingObject:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiEmbeddingObject, value)
