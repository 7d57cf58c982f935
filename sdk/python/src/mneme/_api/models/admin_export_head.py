from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.admin_export_head_type import (
    AdminExportHeadType,
    check_admin_export_head_type,
)

if TYPE_CHECKING:
    from ..models.admin_export_grant import AdminExportGrant


T = TypeVar("T", bound="AdminExportHead")


@_attrs_define
class AdminExportHead:
    """
    Attributes:
        type_ (AdminExportHeadType):
        id (str):
        organization_id (str):
        integration (str):
        integration_name (str):
        first_seen (datetime.datetime):
        last_seen (datetime.datetime):
        exported_at (datetime.datetime):
        grants (list[AdminExportGrant]): of sources, by creation time
    """

    type_: AdminExportHeadType
    id: str
    organization_id: str
    integration: str
    integration_name: str
    first_seen: datetime.datetime
    last_seen: datetime.datetime
    exported_at: datetime.datetime
    grants: list[AdminExportGrant]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_: str = self.type_

        id = self.id

        organization_id = self.organization_id

        integration = self.integration

        integration_name = self.integration_name

        first_seen = self.first_seen.isoformat()

        last_seen = self.last_seen.isoformat()

        exported_at = self.exported_at.isoformat()

        grants = []
        for grants_item_data in self.grants:
            grants_item = grants_item_data.to_dict()
            grants.append(grants_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "id": id,
                "organization_id": organization_id,
                "integration": integration,
                "integration_name": integration_name,
                "first_seen": first_seen,
                "last_seen": last_seen,
                "exported_at": exported_at,
                "grants": grants,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.admin_export_grant import AdminExportGrant

        d = dict(src_dict)
        type_ = check_admin_export_head_type(d.pop("type"))

        id = d.pop("id")

        organization_id = d.pop("organization_id")

        integration = d.pop("integration")

        integration_name = d.pop("integration_name")

        first_seen = datetime.datetime.fromisoformat(d.pop("first_seen"))

        last_seen = datetime.datetime.fromisoformat(d.pop("last_seen"))

        exported_at = datetime.datetime.fromisoformat(d.pop("exported_at"))

        grants = []
        _grants = d.pop("grants")
        for grants_item_data in _grants:
            grants_item = AdminExportGrant.from_dict(grants_item_data)

            grants.append(grants_item)

        admin_export_head = cls(
            type_=type_,
            id=id,
            organization_id=organization_id,
            integration=integration,
            integration_name=integration_name,
            first_seen=first_seen,
            last_seen=last_seen,
            exported_at=exported_at,
            grants=grants,
        )

        admin_export_head.additional_properties = d
        return admin_export_head

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
