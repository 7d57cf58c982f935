from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.status_deep_status import StatusDeepStatus, check_status_deep_status
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.status_deep_checks import StatusDeepChecks


T = TypeVar("T", bound="StatusDeep")


@_attrs_define
class StatusDeep:
    """
    Attributes:
        status (StatusDeepStatus): degraded: an optional part is off or fails
        time (datetime.datetime): of the check
        checks (StatusDeepChecks | Unset): with a valid key only
        version (str | Unset): of the server; with a valid key only
    """

    status: StatusDeepStatus
    time: datetime.datetime
    checks: StatusDeepChecks | Unset = UNSET
    version: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        status: str = self.status

        time = self.time.isoformat()

        checks: dict[str, Any] | Unset = UNSET
        if not isinstance(self.checks, Unset):
            checks = self.checks.to_dict()

        version = self.version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "status": status,
                "time": time,
            }
        )
        if checks is not UNSET:
            field_dict["checks"] = checks
        if version is not UNSET:
            field_dict["version"] = version

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.status_deep_checks import StatusDeepChecks

        d = dict(src_dict)
        status = check_status_deep_status(d.pop("status"))

        time = datetime.datetime.fromisoformat(d.pop("time"))

        _checks = d.pop("checks", UNSET)
        checks: StatusDeepChecks | Unset
        if isinstance(_checks, Unset):
            checks = UNSET
        else:
            checks = StatusDeepChecks.from_dict(_checks)

        version = d.pop("version", UNSET)

        status_deep = cls(
            status=status,
            time=time,
            checks=checks,
            version=version,
        )

        status_deep.additional_properties = d
        return status_deep

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
