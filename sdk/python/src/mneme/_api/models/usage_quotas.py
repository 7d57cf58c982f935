from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.usage_quota import UsageQuota


T = TypeVar("T", bound="UsageQuotas")


@_attrs_define
class UsageQuotas:
    """
    Attributes:
        organization_id (str):
        bytes_ (UsageQuota):
        documents (UsageQuota):
        namespaces (UsageQuota):
        end_users (UsageQuota):
    """

    organization_id: str
    bytes_: UsageQuota
    documents: UsageQuota
    namespaces: UsageQuota
    end_users: UsageQuota
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        organization_id = self.organization_id

        bytes_ = self.bytes_.to_dict()

        documents = self.documents.to_dict()

        namespaces = self.namespaces.to_dict()

        end_users = self.end_users.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "organization_id": organization_id,
                "bytes": bytes_,
                "documents": documents,
                "namespaces": namespaces,
                "end_users": end_users,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.usage_quota import UsageQuota

        d = dict(src_dict)
        organization_id = d.pop("organization_id")

        bytes_ = UsageQuota.from_dict(d.pop("bytes"))

        documents = UsageQuota.from_dict(d.pop("documents"))

        namespaces = UsageQuota.from_dict(d.pop("namespaces"))

        end_users = UsageQuota.from_dict(d.pop("end_users"))

        usage_quotas = cls(
            organization_id=organization_id,
            bytes_=bytes_,
            documents=documents,
            namespaces=namespaces,
            end_users=end_users,
        )

        usage_quotas.additional_properties = d
        return usage_quotas

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
