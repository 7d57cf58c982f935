from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.admin_create_key_kind import (
    AdminCreateKeyKind,
    check_admin_create_key_kind,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.admin_create_key_limits import AdminCreateKeyLimits


T = TypeVar("T", bound="AdminCreateKey")


@_attrs_define
class AdminCreateKey:
    """
    Attributes:
        kind (AdminCreateKeyKind | Unset): what it is for; team and organization are for migration only; default:
            service
        name (str | Unset): for people
        read_only (bool | Unset): refuses whatever changes data; default: false
        namespace (None | str | Unset): limits a service key to one namespace; gives blocks of context of an integration
            or personal key passages of it
        source (None | str | Unset): limits a service key to the source with this id, as of a vendor's process that
            pushes its items
        default_namespace (None | str | Unset): of calls that name none
        limits (AdminCreateKeyLimits | Unset): of the key itself, by rate class
        expires_at (datetime.datetime | None | Unset): in the future; default: never
    """

    kind: AdminCreateKeyKind | Unset = UNSET
    name: str | Unset = UNSET
    read_only: bool | Unset = UNSET
    namespace: None | str | Unset = UNSET
    source: None | str | Unset = UNSET
    default_namespace: None | str | Unset = UNSET
    limits: AdminCreateKeyLimits | Unset = UNSET
    expires_at: datetime.datetime | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind: str | Unset = UNSET
        if not isinstance(self.kind, Unset):
            kind = self.kind

        name = self.name

        read_only = self.read_only

        namespace: None | str | Unset
        if isinstance(self.namespace, Unset):
            namespace = UNSET
        else:
            namespace = self.namespace

        source: None | str | Unset
        if isinstance(self.source, Unset):
            source = UNSET
        else:
            source = self.source

        default_namespace: None | str | Unset
        if isinstance(self.default_namespace, Unset):
            default_namespace = UNSET
        else:
            default_namespace = self.default_namespace

        limits: dict[str, Any] | Unset = UNSET
        if not isinstance(self.limits, Unset):
            limits = self.limits.to_dict()

        expires_at: None | str | Unset
        if isinstance(self.expires_at, Unset):
            expires_at = UNSET
        elif isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if kind is not UNSET:
            field_dict["kind"] = kind
        if name is not UNSET:
            field_dict["name"] = name
        if read_only is not UNSET:
            field_dict["read_only"] = read_only
        if namespace is not UNSET:
            field_dict["namespace"] = namespace
        if source is not UNSET:
            field_dict["source"] = source
        if default_namespace is not UNSET:
            field_dict["default_namespace"] = default_namespace
        if limits is not UNSET:
            field_dict["limits"] = limits
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.admin_create_key_limits import AdminCreateKeyLimits

        d = dict(src_dict)
        _kind = d.pop("kind", UNSET)
        kind: AdminCreateKeyKind | Unset
        if isinstance(_kind, Unset):
            kind = UNSET
        else:
            kind = check_admin_create_key_kind(_kind)

        name = d.pop("name", UNSET)

        read_only = d.pop("read_only", UNSET)

        def _parse_namespace(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        namespace = _parse_namespace(d.pop("namespace", UNSET))

        def _parse_source(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        source = _parse_source(d.pop("source", UNSET))

        def _parse_default_namespace(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        default_namespace = _parse_default_namespace(d.pop("default_namespace", UNSET))

        _limits = d.pop("limits", UNSET)
        limits: AdminCreateKeyLimits | Unset
        if isinstance(_limits, Unset):
            limits = UNSET
        else:
            limits = AdminCreateKeyLimits.from_dict(_limits)

        def _parse_expires_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        expires_at = _parse_expires_at(d.pop("expires_at", UNSET))

        admin_create_key = cls(
            kind=kind,
            name=name,
            read_only=read_only,
            namespace=namespace,
            source=source,
            default_namespace=default_namespace,
            limits=limits,
            expires_at=expires_at,
        )

        return admin_create_key
