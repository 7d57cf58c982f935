from typing import Literal, cast

DocumentsListOrder = Literal["id", "updated_at"]


def check_documents_list_order(value: str) -> DocumentsListOrder:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(DocumentsListOrder, value)
