from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="MemoryQuotas")


@_attrs_define
class MemoryQuotas:
    """
    Attributes:
        memories_per_end_user (int):
        read_rate_per_min (int):
        write_rate_per_min (int):
    """

    memories_per_end_user: int
    read_rate_per_min: int
    write_rate_per_min: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        memories_per_end_user = self.memories_per_end_user

        read_rate_per_min = self.read_rate_per_min

        write_rate_per_min = self.write_rate_per_min

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "memoriesPerEndUser": memories_per_end_user,
                "readRatePerMin": read_rate_per_min,
                "writeRatePerMin": write_rate_per_min,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        memories_per_end_user = d.pop("memoriesPerEndUser")

        read_rate_per_min = d.pop("readRatePerMin")

        write_rate_per_min = d.pop("writeRatePerMin")

        memory_quotas = cls(
            memories_per_end_user=memories_per_end_user,
            read_rate_per_min=read_rate_per_min,
            write_rate_per_min=write_rate_per_min,
        )

        memory_quotas.additional_properties = d
        return memory_quotas

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
