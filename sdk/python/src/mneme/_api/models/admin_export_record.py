from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.admin_export_record_status import (
    AdminExportRecordStatus,
    check_admin_export_record_status,
)
from ..models.admin_export_record_type import (
    AdminExportRecordType,
    check_admin_export_record_type,
)

T = TypeVar("T", bound="AdminExportRecord")


@_attrs_define
class AdminExportRecord:
    """
    Attributes:
        type_ (AdminExportRecordType):
        source (str):
        external_id (str):
        version (int):
        status (AdminExportRecordStatus):
        occurred_at (datetime.datetime):
        updated_at (datetime.datetime):
        document_id (str):
        content_hash (str):
    """

    type_: AdminExportRecordType
    source: str
    external_id: str
    version: int
    status: AdminExportRecordStatus
    occurred_at: datetime.datetime
    updated_at: datetime.datetime
    document_id: str
    content_hash: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_: str = self.type_

        source = self.source

        external_id = self.external_id

        version = self.version

        status: str = self.status

        occurred_at = self.occurred_at.isoformat()

        updated_at = self.updated_at.isoformat()

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
                "status": status,
                "occurred_at": occurred_at,
                "updated_at": updated_at,
                "document_id": document_id,
                "content_hash": content_hash,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        type_ = check_admin_export_record_type(d.pop("type"))

        source = d.pop("source")

        external_id = d.pop("external_id")

        version = d.pop("version")

        status = check_admin_export_record_status(d.pop("status"))

        occurred_at = datetime.datetime.fromisoformat(d.pop("occurred_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        document_id = d.pop("document_id")

        content_hash = d.pop("content_hash")

        admin_export_record = cls(
            type_=type_,
            source=source,
            external_id=external_id,
            version=version,
            status=status,
            occurred_at=occurred_at,
            updated_at=updated_at,
            document_id=document_id,
            content_hash=content_hash,
        )

        admin_export_record.additional_properties = d
        return admin_export_record

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
