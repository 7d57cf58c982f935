from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.event_quota_data_quota import (
    EventQuotaDataQuota,
    check_event_quota_data_quota,
)

T = TypeVar("T", bound="EventQuotaData")


@_attrs_define
class EventQuotaData:
    """
    Attributes:
        organization_id (str):
        quota (EventQuotaDataQuota):
        limit (int):
        used (int): before the write, which would have gone over the limit
    """

    organization_id: str
    quota: EventQuotaDataQuota
    limit: int
    used: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        organization_id = self.organization_id

        quota: str = self.quota

        limit = self.limit

        used = self.used

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "organization_id": organization_id,
                "quota": quota,
                "limit": limit,
                "used": used,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        organization_id = d.pop("organization_id")

        quota = check_event_quota_data_quota(d.pop("quota"))

        limit = d.pop("limit")

        used = d.pop("used")

        event_quota_data = cls(
            organization_id=organization_id,
            quota=quota,
            limit=limit,
            used=used,
        )

        event_quota_data.additional_properties = d
        return event_quota_data

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
