from typing import Literal, cast

AdminExportMemoryType = Literal["memory"]


def check_admin_export_memory_type(value: str) -> AdminExportMemoryType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminExportMemoryType, value)
