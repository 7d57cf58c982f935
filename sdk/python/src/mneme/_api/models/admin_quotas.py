from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AdminQuotas")


@_attrs_define
class AdminQuotas:
    """
    Attributes:
        memories_per_end_user (int): 0: unlimited
        read_rate_per_min (int): searches and reads a minute; 0: unlimited
        write_rate_per_min (int): memories a minute; 0: unlimited
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
                "memories_per_end_user": memories_per_end_user,
                "read_rate_per_min": read_rate_per_min,
                "write_rate_per_min": write_rate_per_min,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        memories_per_end_user = d.pop("memories_per_end_user")

        read_rate_per_min = d.pop("read_rate_per_min")

        write_rate_per_min = d.pop("write_rate_per_min")

        admin_quotas = cls(
            memories_per_end_user=memories_per_end_user,
            read_rate_per_min=read_rate_per_min,
            write_rate_per_min=write_rate_per_min,
        )

        admin_quotas.additional_properties = d
        return admin_quotas

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
