from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.memory_grant import MemoryGrant


T = TypeVar("T", bound="MemoryGranted")


@_attrs_define
class MemoryGranted:
    """
    Attributes:
        success (bool):
        grant (MemoryGrant):
    """

    success: bool
    grant: MemoryGrant
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        success = self.success

        grant = self.grant.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "success": success,
                "grant": grant,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.memory_grant import MemoryGrant

        d = dict(src_dict)
        success = d.pop("success")

        grant = MemoryGrant.from_dict(d.pop("grant"))

        memory_granted = cls(
            success=success,
            grant=grant,
        )

        memory_granted.additional_properties = d
        return memory_granted

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
