from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.member_change_role import MemberChangeRole, check_member_change_role
from ..types import UNSET, Unset

T = TypeVar("T", bound="MemberChange")


@_attrs_define
class MemberChange:
    """
    Attributes:
        role (MemberChangeRole | Unset): the new role, which holds from the member's next call on
        disabled (bool | None | Unset): true: signs in no more, and all sessions end; false: may again
        has_account (bool | None | Unset): false: the account at the identity provider is unbound, and all sessions end;
            the next account with the verified address is bound instead
    """

    role: MemberChangeRole | Unset = UNSET
    disabled: bool | None | Unset = UNSET
    has_account: bool | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        role: str | Unset = UNSET
        if not isinstance(self.role, Unset):
            role = self.role

        disabled: bool | None | Unset
        if isinstance(self.disabled, Unset):
            disabled = UNSET
        else:
            disabled = self.disabled

        has_account: bool | None | Unset
        if isinstance(self.has_account, Unset):
            has_account = UNSET
        else:
            has_account = self.has_account

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if role is not UNSET:
            field_dict["role"] = role
        if disabled is not UNSET:
            field_dict["disabled"] = disabled
        if has_account is not UNSET:
            field_dict["has_account"] = has_account

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        _role = d.pop("role", UNSET)
        role: MemberChangeRole | Unset
        if isinstance(_role, Unset):
            role = UNSET
        else:
            role = check_member_change_role(_role)

        def _parse_disabled(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        disabled = _parse_disabled(d.pop("disabled", UNSET))

        def _parse_has_account(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        has_account = _parse_has_account(d.pop("has_account", UNSET))

        member_change = cls(
            role=role,
            disabled=disabled,
            has_account=has_account,
        )

        return member_change
