from typing import Literal, cast

AdminDocumentLineType = Literal["document"]


def check_admin_document_line_type(value: str) -> AdminDocumentLineType:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminDocumentLineType, value)
