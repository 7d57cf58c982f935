from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.memory_record_status import MemoryRecordStatus, check_memory_record_status

T = TypeVar("T", bound="MemoryRecord")


@_attrs_define
class MemoryRecord:
    """
    Attributes:
        source (str): 1-128 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        external_id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        version (int):
        status (MemoryRecordStatus): active or tombstoned
        occurred_at (datetime.datetime): the source's time of the version
        updated_at (datetime.datetime): when it was applied
        document_id (str): id of the memory, the same over all versions
        content_hash (str): SHA-256 of the content; empty when tombstoned
    """

    source: str
    external_id: str
    version: int
    status: MemoryRecordStatus
    occurred_at: datetime.datetime
    updated_at: datetime.datetime
    document_id: str
    content_hash: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
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
                "source": source,
                "externalId": external_id,
                "version": version,
                "status": status,
                "occurredAt": occurred_at,
                "updatedAt": updated_at,
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

        status = check_memory_record_status(d.pop("status"))

        occurred_at = datetime.datetime.fromisoformat(d.pop("occurredAt"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updatedAt"))

        document_id = d.pop("documentId")

        content_hash = d.pop("contentHash")

        memory_record = cls(
            source=source,
            external_id=external_id,
            version=version,
            status=status,
            occurred_at=occurred_at,
            updated_at=updated_at,
            document_id=document_id,
            content_hash=content_hash,
        )

        memory_record.additional_properties = d
        return memory_record

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
