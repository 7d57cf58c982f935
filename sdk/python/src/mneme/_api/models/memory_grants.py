from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.memory_grant import MemoryGrant


T = TypeVar("T", bound="MemoryGrants")


@_attrs_define
class MemoryGrants:
    """
    Attributes:
        success (bool):
        grants (list[MemoryGrant]):
    """

    success: bool
    grants: list[MemoryGrant]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        success = self.success

        grants = []
        for grants_item_data in self.grants:
            grants_item = grants_item_data.to_dict()
            grants.append(grants_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "success": success,
                "grants": grants,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.memory_grant import MemoryGrant

        d = dict(src_dict)
        success = d.pop("success")

        grants = []
        _grants = d.pop("grants")
        for grants_item_data in _grants:
            grants_item = MemoryGrant.from_dict(grants_item_data)

            grants.append(grants_item)

        memory_grants = cls(
            success=success,
            grants=grants,
        )

        memory_grants.additional_properties = d
        return memory_grants

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
