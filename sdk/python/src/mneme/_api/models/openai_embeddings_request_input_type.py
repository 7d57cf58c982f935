from typing import Literal, cast

OpenaiEmbeddingsRequestInputType = Literal["passage", "query"]


def check_openai_embeddings_request_input_type(
    value: str,
) -> OpenaiEmbeddingsRequestInputType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiEmbeddingsRequestInputType, value)
