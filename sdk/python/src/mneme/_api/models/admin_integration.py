from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.admin_quotas import AdminQuotas


T = TypeVar("T", bound="AdminIntegration")


@_attrs_define
class AdminIntegration:
    """
    Attributes:
        id (str):
        organization_id (str): id of its organization
        name (str): unique in its organization; in paths as good as the id
        quotas (AdminQuotas):
        grants_required (bool): whether sources write memories of its end users by a grant only
        created_at (datetime.datetime):
    """

    id: str
    organization_id: str
    name: str
    quotas: AdminQuotas
    grants_required: bool
    created_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        organization_id = self.organization_id

        name = self.name

        quotas = self.quotas.to_dict()

        grants_required = self.grants_required

        created_at = self.created_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "organization_id": organization_id,
                "name": name,
                "quotas": quotas,
                "grants_required": grants_required,
                "created_at": created_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.admin_quotas import AdminQuotas

        d = dict(src_dict)
        id = d.pop("id")

        organization_id = d.pop("organization_id")

        name = d.pop("name")

        quotas = AdminQuotas.from_dict(d.pop("quotas"))

        grants_required = d.pop("grants_required")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        admin_integration = cls(
            id=id,
            organization_id=organization_id,
            name=name,
            quotas=quotas,
            grants_required=grants_required,
            created_at=created_at,
        )

        admin_integration.additional_properties = d
        return admin_integration

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
