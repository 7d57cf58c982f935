from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.admin_change_key_limits import AdminChangeKeyLimits


T = TypeVar("T", bound="AdminChangeKey")


@_attrs_define
class AdminChangeKey:
    """
    Attributes:
        name (None | str | Unset): for people
        read_only (bool | None | Unset): refuses whatever changes data
        default_namespace (None | str | Unset): of calls that name none; empty: none
        limits (AdminChangeKeyLimits | Unset): replace all of the key's own
    """

    name: None | str | Unset = UNSET
    read_only: bool | None | Unset = UNSET
    default_namespace: None | str | Unset = UNSET
    limits: AdminChangeKeyLimits | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        read_only: bool | None | Unset
        if isinstance(self.read_only, Unset):
            read_only = UNSET
        else:
            read_only = self.read_only

        default_namespace: None | str | Unset
        if isinstance(self.default_namespace, Unset):
            default_namespace = UNSET
        else:
            default_namespace = self.default_namespace

        limits: dict[str, Any] | Unset = UNSET
        if not isinstance(self.limits, Unset):
            limits = self.limits.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if name is not UNSET:
            field_dict["name"] = name
        if read_only is not UNSET:
            field_dict["read_only"] = read_only
        if default_namespace is not UNSET:
            field_dict["default_namespace"] = default_namespace
        if limits is not UNSET:
            field_dict["limits"] = limits

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.admin_change_key_limits import AdminChangeKeyLimits

        d = dict(src_dict)

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_read_only(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        read_only = _parse_read_only(d.pop("read_only", UNSET))

        def _parse_default_namespace(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        default_namespace = _parse_default_namespace(d.pop("default_namespace", UNSET))

        _limits = d.pop("limits", UNSET)
        limits: AdminChangeKeyLimits | Unset
        if isinstance(_limits, Unset):
            limits = UNSET
        else:
            limits = AdminChangeKeyLimits.from_dict(_limits)

        admin_change_key = cls(
            name=name,
            read_only=read_only,
            default_namespace=default_namespace,
            limits=limits,
        )

        return admin_change_key
