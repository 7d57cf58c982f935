from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.memory_quotas import MemoryQuotas


T = TypeVar("T", bound="MemoryIntegration")


@_attrs_define
class MemoryIntegration:
    """
    Attributes:
        id (str):
        scopes (list[str]): rights of the key
        quotas (MemoryQuotas):
    """

    id: str
    scopes: list[str]
    quotas: MemoryQuotas
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        scopes = self.scopes

        quotas = self.quotas.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "scopes": scopes,
                "quotas": quotas,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.memory_quotas import MemoryQuotas

        d = dict(src_dict)
        id = d.pop("id")

        scopes = cast(list[str], d.pop("scopes"))

        quotas = MemoryQuotas.from_dict(d.pop("quotas"))

        memory_integration = cls(
            id=id,
            scopes=scopes,
            quotas=quotas,
        )

        memory_integration.additional_properties = d
        return memory_integration

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
