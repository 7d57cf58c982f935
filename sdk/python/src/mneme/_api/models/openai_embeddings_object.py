from typing import Literal, cast

OpenaiEmbeddingsObject = Literal["list"]


def check_openai_embeddings_object(value: str) -> OpenaiEmbeddingsObject:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiEmbeddingsObject, value)
