from typing import Literal, cast

AdminEndLineType = Literal["end"]


def check_admin_end_line_type(value: str) -> AdminEndLineType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminEndLineType, value)
