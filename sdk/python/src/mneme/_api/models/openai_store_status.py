from typing import Literal, cast

OpenaiStoreStatus = Literal["completed"]


def check_openai_store_status(value: str) -> OpenaiStoreStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiStoreStatus, value)
