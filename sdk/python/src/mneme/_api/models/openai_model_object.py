from typing import Literal, cast

OpenaiModelObject = Literal["model"]


def check_openai_model_object(value: str) -> OpenaiModelObject:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiModelObject, value)
