from typing import Literal, cast

DatasetHeaderVersion = Literal[1]


def check_dataset_header_version(value: int) -> DatasetHeaderVersion:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(DatasetHeaderVersion, value)
