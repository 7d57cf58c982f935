from typing import Literal, cast

AdminNamespaceLineType = Literal["namespace"]


def check_admin_namespace_line_type(value: str) -> AdminNamespaceLineType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminNamespaceLineType, value)
