from typing import Literal, cast

OpenaiModelsObject = Literal["list"]


def check_openai_models_object(value: str) -> OpenaiModelsObject:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiModelsObject, value)
