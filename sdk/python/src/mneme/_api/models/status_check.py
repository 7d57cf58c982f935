from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.status_check_status import StatusCheckStatus, check_status_check_status
from ..types import UNSET, Unset

T = TypeVar("T", bound="StatusCheck")


@_attrs_define
class StatusCheck:
    """
    Attributes:
        status (StatusCheckStatus): off: it is not configured
        latency_ms (int): how long the check took
        message (str | Unset): what is wrong
        since (datetime.datetime | Unset): of an error: when the server that answers first found it, in the checks it
            made without a break; it may be older
    """

    status: StatusCheckStatus
    latency_ms: int
    message: str | Unset = UNSET
    since: datetime.datetime | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        status: str = self.status

        latency_ms = self.latency_ms

        message = self.message

        since: str | Unset = UNSET
        if not isinstance(self.since, Unset):
            since = self.since.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "status": status,
                "latency_ms": latency_ms,
            }
        )
        if message is not UNSET:
            field_dict["message"] = message
        if since is not UNSET:
            field_dict["since"] = since

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        status = check_status_check_status(d.pop("status"))

        latency_ms = d.pop("latency_ms")

        message = d.pop("message", UNSET)

        _since = d.pop("since", UNSET)
        since: datetime.datetime | Unset
        if isinstance(_since, Unset):
            since = UNSET
        else:
            since = datetime.datetime.fromisoformat(_since)

        status_check = cls(
            status=status,
            latency_ms=latency_ms,
            message=message,
            since=since,
        )

        status_check.additional_properties = d
        return status_check

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
