from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="WebhookRotateOf")


@_attrs_define
class WebhookRotateOf:
    """
    Attributes:
        overlap (str | Unset): how long the secret that is replaced signs along, such as 90m: 0s to 168h; default: 24h
        force (bool | Unset): also while two secrets sign: the older one ends at once; default: false
    """

    overlap: str | Unset = UNSET
    force: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        overlap = self.overlap

        force = self.force

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if overlap is not UNSET:
            field_dict["overlap"] = overlap
        if force is not UNSET:
            field_dict["force"] = force

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        overlap = d.pop("overlap", UNSET)

        force = d.pop("force", UNSET)

        webhook_rotate_of = cls(
            overlap=overlap,
            force=force,
        )

        return webhook_rotate_of
