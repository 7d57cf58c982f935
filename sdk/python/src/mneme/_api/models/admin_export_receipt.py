from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.admin_export_receipt_operation import (
    AdminExportReceiptOperation,
    check_admin_export_receipt_operation,
)
from ..models.admin_export_receipt_outcome import (
    AdminExportReceiptOutcome,
    check_admin_export_receipt_outcome,
)
from ..models.admin_export_receipt_type import (
    AdminExportReceiptType,
    check_admin_export_receipt_type,
)

T = TypeVar("T", bound="AdminExportReceipt")


@_attrs_define
class AdminExportReceipt:
    """
    Attributes:
        type_ (AdminExportReceiptType):
        source (str):
        external_id (str):
        version (int):
        operation (AdminExportReceiptOperation):
        request_hash (str):
        outcome (AdminExportReceiptOutcome):
        occurred_at (datetime.datetime):
        applied_at (datetime.datetime):
        document_id (str):
        content_hash (str):
    """

    type_: AdminExportReceiptType
    source: str
    external_id: str
    version: int
    operation: AdminExportReceiptOperation
    request_hash: str
    outcome: AdminExportReceiptOutcome
    occurred_at: datetime.datetime
    applied_at: datetime.datetime
    document_id: str
    content_hash: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_: str = self.type_

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
                "type": type_,
                "source": source,
                "external_id": external_id,
                "version": version,
                "operation": operation,
                "request_hash": request_hash,
                "outcome": outcome,
                "occurred_at": occurred_at,
                "applied_at": applied_at,
                "document_id": document_id,
                "content_hash": content_hash,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        type_ = check_admin_export_receipt_type(d.pop("type"))

        source = d.pop("source")

        external_id = d.pop("external_id")

        version = d.pop("version")

        operation = check_admin_export_receipt_operation(d.pop("operation"))

        request_hash = d.pop("request_hash")

        outcome = check_admin_export_receipt_outcome(d.pop("outcome"))

        occurred_at = datetime.datetime.fromisoformat(d.pop("occurred_at"))

        applied_at = datetime.datetime.fromisoformat(d.pop("applied_at"))

        document_id = d.pop("document_id")

        content_hash = d.pop("content_hash")

        admin_export_receipt = cls(
            type_=type_,
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

        admin_export_receipt.additional_properties = d
        return admin_export_receipt

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
