from typing import Literal, cast

AdminHeaderLineType = Literal["header"]


def check_admin_header_line_type(value: str) -> AdminHeaderLineType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminHeaderLineType, value)
