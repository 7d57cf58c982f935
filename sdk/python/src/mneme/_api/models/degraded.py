from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.degraded_part import DegradedPart, check_degraded_part
from ..models.degraded_reason import DegradedReason, check_degraded_reason

T = TypeVar("T", bound="Degraded")


@_attrs_define
class Degraded:
    """
    Attributes:
        part (DegradedPart): what was left out, or took part with less
        reason (DegradedReason): why; truncated: it took part, and its model read only the beginning of the query
    """

    part: DegradedPart
    reason: DegradedReason
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        part: str = self.part

        reason: str = self.reason

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "part": part,
                "reason": reason,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        part = check_degraded_part(d.pop("part"))

        reason = check_degraded_reason(d.pop("reason"))

        degraded = cls(
            part=part,
            reason=reason,
        )

        degraded.additional_properties = d
        return degraded

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
