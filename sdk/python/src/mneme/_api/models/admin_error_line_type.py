from typing import Literal, cast

AdminErrorLineType = Literal["error"]


def check_admin_error_line_type(value: str) -> AdminErrorLineType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminErrorLineType, value)
