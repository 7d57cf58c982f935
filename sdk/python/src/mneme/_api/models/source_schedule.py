from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SourceSchedule")


@_attrs_define
class SourceSchedule:
    """
    Attributes:
        every (str | Unset): from one run to the next, 1m to 8760h, with a jitter of a tenth and at most 5 minutes
        cron (str | Unset): five fields in UTC: minute, hour, day of the month, month, day of the week
    """

    every: str | Unset = UNSET
    cron: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        every = self.every

        cron = self.cron

        field_dict: dict[str, Any] = {}

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

        source_schedule = cls(
            every=every,
            cron=cron,
        )

        return source_schedule
