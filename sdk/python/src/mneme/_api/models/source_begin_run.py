from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.source_begin_run_mode import (
    SourceBeginRunMode,
    check_source_begin_run_mode,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="SourceBeginRun")


@_attrs_define
class SourceBeginRun:
    """
    Attributes:
        mode (SourceBeginRunMode | Unset): everything that the source has is to be brought; default: full
    """

    mode: SourceBeginRunMode | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if mode is not UNSET:
            field_dict["mode"] = mode

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        _mode = d.pop("mode", UNSET)
        mode: SourceBeginRunMode | Unset
        if isinstance(_mode, Unset):
            mode = UNSET
        else:
            mode = check_source_begin_run_mode(_mode)

        source_begin_run = cls(
            mode=mode,
        )

        return source_begin_run
