from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.memory_receipt import MemoryReceipt
    from ..models.memory_record import MemoryRecord


T = TypeVar("T", bound="MemoryApplied")


@_attrs_define
class MemoryApplied:
    """
    Attributes:
        success (bool):
        record (MemoryRecord):
        receipt (MemoryReceipt):
    """

    success: bool
    record: MemoryRecord
    receipt: MemoryReceipt
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        success = self.success

        record = self.record.to_dict()

        receipt = self.receipt.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "success": success,
                "record": record,
                "receipt": receipt,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.memory_receipt import MemoryReceipt
        from ..models.memory_record import MemoryRecord

        d = dict(src_dict)
        success = d.pop("success")

        record = MemoryRecord.from_dict(d.pop("record"))

        receipt = MemoryReceipt.from_dict(d.pop("receipt"))

        memory_applied = cls(
            success=success,
            record=record,
            receipt=receipt,
        )

        memory_applied.additional_properties = d
        return memory_applied

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
