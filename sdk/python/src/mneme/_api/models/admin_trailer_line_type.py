from typing import Literal, cast

AdminTrailerLineType = Literal["trailer"]


def check_admin_trailer_line_type(value: str) -> AdminTrailerLineType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminTrailerLineType, value)
