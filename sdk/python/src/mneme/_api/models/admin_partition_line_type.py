from typing import Literal, cast

AdminPartitionLineType = Literal["partition"]


def check_admin_partition_line_type(value: str) -> AdminPartitionLineType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminPartitionLineType, value)
