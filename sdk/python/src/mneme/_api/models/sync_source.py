from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SyncSource")


@_attrs_define
class SyncSource:
    """
    Attributes:
        full (bool | Unset): look at everything again, and bring back documents that were deleted by hand; default:
            false
    """

    full: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        full = self.full

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if full is not UNSET:
            field_dict["full"] = full

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        full = d.pop("full", UNSET)

        sync_source = cls(
            full=full,
        )

        return sync_source
