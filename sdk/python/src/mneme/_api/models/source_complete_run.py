from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SourceCompleteRun")


@_attrs_define
class SourceCompleteRun:
    """
    Attributes:
        snapshot (bool | Unset): everything was brought: what was not is gone; default: false
    """

    snapshot: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        snapshot = self.snapshot

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if snapshot is not UNSET:
            field_dict["snapshot"] = snapshot

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        snapshot = d.pop("snapshot", UNSET)

        source_complete_run = cls(
            snapshot=snapshot,
        )

        return source_complete_run
