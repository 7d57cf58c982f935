from typing import Literal, cast

DocumentsGetIncludeItem = Literal["chunks"]


def check_documents_get_include_item(value: str) -> DocumentsGetIncludeItem:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(DocumentsGetIncludeItem, value)
