from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.admin_export_end_type import (
    AdminExportEndType,
    check_admin_export_end_type,
)

T = TypeVar("T", bound="AdminExportEnd")


@_attrs_define
class AdminExportEnd:
    """
    Attributes:
        type_ (AdminExportEndType):
        memories (int):
        records (int):
        receipts (int):
    """

    type_: AdminExportEndType
    memories: int
    records: int
    receipts: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_: str = self.type_

        memories = self.memories

        records = self.records

        receipts = self.receipts

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "memories": memories,
                "records": records,
                "receipts": receipts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        type_ = check_admin_export_end_type(d.pop("type"))

        memories = d.pop("memories")

        records = d.pop("records")

        receipts = d.pop("receipts")

        admin_export_end = cls(
            type_=type_,
            memories=memories,
            records=records,
            receipts=receipts,
        )

        admin_export_end.additional_properties = d
        return admin_export_end

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
