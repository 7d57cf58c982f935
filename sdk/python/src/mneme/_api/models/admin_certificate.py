from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.admin_deleted import AdminDeleted
    from ..models.admin_ungranted import AdminUngranted


T = TypeVar("T", bound="AdminCertificate")


@_attrs_define
class AdminCertificate:
    """
    Attributes:
        end_user_id (str): the end user
        organization_id (str): id of the organization
        integration (str): id of the integration
        integration_name (str): name of the integration
        deleted (AdminDeleted):
        grants (AdminUngranted):
        verified_absent (bool): the store and the indexes were searched afterwards and hold nothing
        erased_at (datetime.datetime):
    """

    end_user_id: str
    organization_id: str
    integration: str
    integration_name: str
    deleted: AdminDeleted
    grants: AdminUngranted
    verified_absent: bool
    erased_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        end_user_id = self.end_user_id

        organization_id = self.organization_id

        integration = self.integration

        integration_name = self.integration_name

        deleted = self.deleted.to_dict()

        grants = self.grants.to_dict()

        verified_absent = self.verified_absent

        erased_at = self.erased_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "end_user_id": end_user_id,
                "organization_id": organization_id,
                "integration": integration,
                "integration_name": integration_name,
                "deleted": deleted,
                "grants": grants,
                "verified_absent": verified_absent,
                "erased_at": erased_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.admin_deleted import AdminDeleted
        from ..models.admin_ungranted import AdminUngranted

        d = dict(src_dict)
        end_user_id = d.pop("end_user_id")

        organization_id = d.pop("organization_id")

        integration = d.pop("integration")

        integration_name = d.pop("integration_name")

        deleted = AdminDeleted.from_dict(d.pop("deleted"))

        grants = AdminUngranted.from_dict(d.pop("grants"))

        verified_absent = d.pop("verified_absent")

        erased_at = datetime.datetime.fromisoformat(d.pop("erased_at"))

        admin_certificate = cls(
            end_user_id=end_user_id,
            organization_id=organization_id,
            integration=integration,
            integration_name=integration_name,
            deleted=deleted,
            grants=grants,
            verified_absent=verified_absent,
            erased_at=erased_at,
        )

        admin_certificate.additional_properties = d
        return admin_certificate

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
