from typing import Literal, cast

DatasetPartitionSpace = Literal["documents", "memories"]


def check_dataset_partition_space(value: str) -> DatasetPartitionSpace:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(DatasetPartitionSpace, value)
