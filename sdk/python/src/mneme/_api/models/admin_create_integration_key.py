from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.admin_create_integration_key_kind import (
    AdminCreateIntegrationKeyKind,
    check_admin_create_integration_key_kind,
)
from ..models.admin_create_integration_key_scopes_item import (
    AdminCreateIntegrationKeyScopesItem,
    check_admin_create_integration_key_scopes_item,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.admin_create_integration_key_limits import (
        AdminCreateIntegrationKeyLimits,
    )


T = TypeVar("T", bound="AdminCreateIntegrationKey")


@_attrs_define
class AdminCreateIntegrationKey:
    """
    Attributes:
        kind (AdminCreateIntegrationKeyKind | Unset): what it is for; default: integration
        name (str | Unset): for people
        scopes (list[AdminCreateIntegrationKeyScopesItem] | Unset): rights of an integration's key; default
            memories:read and memories:write
        end_user_id (None | str | Unset): the only one that a personal key reaches, required for it
        limits (AdminCreateIntegrationKeyLimits | Unset): of this key alone, by rate class
        expires_at (datetime.datetime | None | Unset): in the future; default: never
    """

    kind: AdminCreateIntegrationKeyKind | Unset = UNSET
    name: str | Unset = UNSET
    scopes: list[AdminCreateIntegrationKeyScopesItem] | Unset = UNSET
    end_user_id: None | str | Unset = UNSET
    limits: AdminCreateIntegrationKeyLimits | Unset = UNSET
    expires_at: datetime.datetime | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind: str | Unset = UNSET
        if not isinstance(self.kind, Unset):
            kind = self.kind

        name = self.name

        scopes: list[str] | Unset = UNSET
        if not isinstance(self.scopes, Unset):
            scopes = []
            for scopes_item_data in self.scopes:
                scopes_item: str = scopes_item_data
                scopes.append(scopes_item)

        end_user_id: None | str | Unset
        if isinstance(self.end_user_id, Unset):
            end_user_id = UNSET
        else:
            end_user_id = self.end_user_id

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
        if scopes is not UNSET:
            field_dict["scopes"] = scopes
        if end_user_id is not UNSET:
            field_dict["end_user_id"] = end_user_id
        if limits is not UNSET:
            field_dict["limits"] = limits
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.admin_create_integration_key_limits import (
            AdminCreateIntegrationKeyLimits,
        )

        d = dict(src_dict)
        _kind = d.pop("kind", UNSET)
        kind: AdminCreateIntegrationKeyKind | Unset
        if isinstance(_kind, Unset):
            kind = UNSET
        else:
            kind = check_admin_create_integration_key_kind(_kind)

        name = d.pop("name", UNSET)

        _scopes = d.pop("scopes", UNSET)
        scopes: list[AdminCreateIntegrationKeyScopesItem] | Unset = UNSET
        if _scopes is not UNSET:
            scopes = []
            for scopes_item_data in _scopes:
                scopes_item = check_admin_create_integration_key_scopes_item(
                    scopes_item_data
                )

                scopes.append(scopes_item)

        def _parse_end_user_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        end_user_id = _parse_end_user_id(d.pop("end_user_id", UNSET))

        _limits = d.pop("limits", UNSET)
        limits: AdminCreateIntegrationKeyLimits | Unset
        if isinstance(_limits, Unset):
            limits = UNSET
        else:
            limits = AdminCreateIntegrationKeyLimits.from_dict(_limits)

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

        admin_create_integration_key = cls(
            kind=kind,
            name=name,
            scopes=scopes,
            end_user_id=end_user_id,
            limits=limits,
            expires_at=expires_at,
        )

        return admin_create_integration_key
