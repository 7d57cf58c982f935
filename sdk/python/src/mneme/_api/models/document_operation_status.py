from typing import Literal, cast

DocumentOperationStatus = Literal["failed", "queued", "running", "succeeded"]


def check_document_operation_status(value: str) -> DocumentOperationStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(DocumentOperationStatus, value)
