from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AdminQuotaChange")


@_attrs_define
class AdminQuotaChange:
    """
    Attributes:
        memories_per_end_user (int | None | Unset): 0: unlimited
        read_rate_per_min (int | None | Unset): searches and reads a minute; 0: unlimited
        write_rate_per_min (int | None | Unset): memories a minute; 0: unlimited
    """

    memories_per_end_user: int | None | Unset = UNSET
    read_rate_per_min: int | None | Unset = UNSET
    write_rate_per_min: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        memories_per_end_user: int | None | Unset
        if isinstance(self.memories_per_end_user, Unset):
            memories_per_end_user = UNSET
        else:
            memories_per_end_user = self.memories_per_end_user

        read_rate_per_min: int | None | Unset
        if isinstance(self.read_rate_per_min, Unset):
            read_rate_per_min = UNSET
        else:
            read_rate_per_min = self.read_rate_per_min

        write_rate_per_min: int | None | Unset
        if isinstance(self.write_rate_per_min, Unset):
            write_rate_per_min = UNSET
        else:
            write_rate_per_min = self.write_rate_per_min

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if memories_per_end_user is not UNSET:
            field_dict["memories_per_end_user"] = memories_per_end_user
        if read_rate_per_min is not UNSET:
            field_dict["read_rate_per_min"] = read_rate_per_min
        if write_rate_per_min is not UNSET:
            field_dict["write_rate_per_min"] = write_rate_per_min

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_memories_per_end_user(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        memories_per_end_user = _parse_memories_per_end_user(
            d.pop("memories_per_end_user", UNSET)
        )

        def _parse_read_rate_per_min(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        read_rate_per_min = _parse_read_rate_per_min(d.pop("read_rate_per_min", UNSET))

        def _parse_write_rate_per_min(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        write_rate_per_min = _parse_write_rate_per_min(
            d.pop("write_rate_per_min", UNSET)
        )

        admin_quota_change = cls(
            memories_per_end_user=memories_per_end_user,
            read_rate_per_min=read_rate_per_min,
            write_rate_per_min=write_rate_per_min,
        )

        return admin_quota_change
