from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="UsageQuota")


@_attrs_define
class UsageQuota:
    """
    Attributes:
        limit (int | None): null: unlimited
        used (int):
        exceeded_at (datetime.datetime | None): when it first refused a write; null: it did not, or less than 95 % of it
            were in use since
    """

    limit: int | None
    used: int
    exceeded_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        limit: int | None
        limit = self.limit

        used = self.used

        exceeded_at: None | str
        if isinstance(self.exceeded_at, datetime.datetime):
            exceeded_at = self.exceeded_at.isoformat()
        else:
            exceeded_at = self.exceeded_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "limit": limit,
                "used": used,
                "exceeded_at": exceeded_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_limit(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        limit = _parse_limit(d.pop("limit"))

        used = d.pop("used")

        def _parse_exceeded_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                exceeded_at_type_0 = datetime.datetime.fromisoformat(data)

                return exceeded_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        exceeded_at = _parse_exceeded_at(d.pop("exceeded_at"))

        usage_quota = cls(
            limit=limit,
            used=used,
            exceeded_at=exceeded_at,
        )

        usage_quota.additional_properties = d
        return usage_quota

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
