from typing import Literal, cast

DatasetHeaderFormat = Literal["mneme.dataset"]


def check_dataset_header_format(value: str) -> DatasetHeaderFormat:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(DatasetHeaderFormat, value)
