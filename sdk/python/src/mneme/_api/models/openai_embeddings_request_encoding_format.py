from typing import Literal, cast

OpenaiEmbeddingsRequestEncodingFormat = Literal["base64", "float"]


def check_openai_embeddings_request_encoding_format(
    value: str,
) -> OpenaiEmbeddingsRequestEncodingFormat:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiEmbeddingsRequestEncodingFormat, value)
