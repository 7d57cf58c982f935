from typing import Literal, cast

EventModelDataStatus = Literal["error", "loading", "off", "ready"]


def check_event_model_data_status(value: str) -> EventModelDataStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(EventModelDataStatus, value)
