from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.memory_receipt_operation import (
    MemoryReceiptOperation,
    check_memory_receipt_operation,
)
from ..models.memory_receipt_outcome import (
    MemoryReceiptOutcome,
    check_memory_receipt_outcome,
)

T = TypeVar("T", bound="MemoryReceipt")


@_attrs_define
class MemoryReceipt:
    """
    Attributes:
        source (str): 1-128 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        external_id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        version (int):
        operation (MemoryReceiptOperation): upsert or tombstone
        request_hash (str): sha256 of the canonical JSON (RFC 8785) of operation and all request fields
        outcome (MemoryReceiptOutcome): created, updated, unchanged, restored or tombstoned
        occurred_at (datetime.datetime): the source's time of the version
        applied_at (datetime.datetime): when it was applied
        document_id (str): id of the memory
        content_hash (str): SHA-256 of the content; empty when tombstoned
    """

    source: str
    external_id: str
    version: int
    operation: MemoryReceiptOperation
    request_hash: str
    outcome: MemoryReceiptOutcome
    occurred_at: datetime.datetime
    applied_at: datetime.datetime
    document_id: str
    content_hash: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        source = self.source

        external_id = self.external_id

        version = self.version

        operation: str = self.operation

        request_hash = self.request_hash

        outcome: str = self.outcome

        occurred_at = self.occurred_at.isoformat()

        applied_at = self.applied_at.isoformat()

        document_id = self.document_id

        content_hash = self.content_hash

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "source": source,
                "externalId": external_id,
                "version": version,
                "operation": operation,
                "requestHash": request_hash,
                "outcome": outcome,
                "occurredAt": occurred_at,
                "appliedAt": applied_at,
                "documentId": document_id,
                "contentHash": content_hash,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        source = d.pop("source")

        external_id = d.pop("externalId")

        version = d.pop("version")

        operation = check_memory_receipt_operation(d.pop("operation"))

        request_hash = d.pop("requestHash")

        outcome = check_memory_receipt_outcome(d.pop("outcome"))

        occurred_at = datetime.datetime.fromisoformat(d.pop("occurredAt"))

        applied_at = datetime.datetime.fromisoformat(d.pop("appliedAt"))

        document_id = d.pop("documentId")

        content_hash = d.pop("contentHash")

        memory_receipt = cls(
            source=source,
            external_id=external_id,
            version=version,
            operation=operation,
            request_hash=request_hash,
            outcome=outcome,
            occurred_at=occurred_at,
            applied_at=applied_at,
            document_id=document_id,
            content_hash=content_hash,
        )

        memory_receipt.additional_properties = d
        return memory_receipt

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
