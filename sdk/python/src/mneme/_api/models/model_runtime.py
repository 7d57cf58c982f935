from typing import Literal, cast

ModelRuntime = Literal["plugin", "remote", "wasm"]


def check_model_runtime(value: str) -> ModelRuntime:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(ModelRuntime, value)
