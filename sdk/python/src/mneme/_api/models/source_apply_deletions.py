from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="SourceApplyDeletions")


@_attrs_define
class SourceApplyDeletions:
    """
    Attributes:
        max_ (int): most documents to delete; if more would go, none does
    """

    max_: int

    def to_dict(self) -> dict[str, Any]:
        max_ = self.max_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "max": max_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        max_ = d.pop("max")

        source_apply_deletions = cls(
            max_=max_,
        )

        return source_apply_deletions
