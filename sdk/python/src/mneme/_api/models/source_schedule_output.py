from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="SourceScheduleOutput")


@_attrs_define
class SourceScheduleOutput:
    """
    Attributes:
        every (str | Unset): from one run to the next, 1m to 8760h, with a jitter of a tenth and at most 5 minutes
        cron (str | Unset): five fields in UTC: minute, hour, day of the month, month, day of the week
    """

    every: str | Unset = UNSET
    cron: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        every = self.every

        cron = self.cron

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if every is not UNSET:
            field_dict["every"] = every
        if cron is not UNSET:
            field_dict["cron"] = cron

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        every = d.pop("every", UNSET)

        cron = d.pop("cron", UNSET)

        source_schedule_output = cls(
            every=every,
            cron=cron,
        )

        source_schedule_output.additional_properties = d
        return source_schedule_output

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
