from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AdminRateChange")


@_attrs_define
class AdminRateChange:
    """
    Attributes:
        per_minute (int): calls a minute; 0: unlimited
        burst (int | Unset): calls at once; 0: a tenth of a minute's worth
    """

    per_minute: int
    burst: int | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        per_minute = self.per_minute

        burst = self.burst

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "per_minute": per_minute,
            }
        )
        if burst is not UNSET:
            field_dict["burst"] = burst

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        per_minute = d.pop("per_minute")

        burst = d.pop("burst", UNSET)

        admin_rate_change = cls(
            per_minute=per_minute,
            burst=burst,
        )

        return admin_rate_change
