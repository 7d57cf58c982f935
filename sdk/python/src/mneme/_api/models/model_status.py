from typing import Literal, cast

ModelStatus = Literal["error", "loading", "off", "ready"]


def check_model_status(value: str) -> ModelStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(ModelStatus, value)
