from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.member_invited_role import MemberInvitedRole, check_member_invited_role
from ..models.member_invited_state import MemberInvitedState, check_member_invited_state

T = TypeVar("T", bound="MemberInvited")


@_attrs_define
class MemberInvited:
    """
    Attributes:
        id (str): id of the member
        organization_id (str): id of the organization
        email (str): address, in lower case; unique in the organization
        role (MemberInvitedRole): what the member may do
        state (MemberInvitedState): invited: has never signed in; disabled: may not
        has_password (bool): false: none was chosen yet
        has_account (bool): true: signs in with an account of the identity provider
        disabled_at (datetime.datetime | None): when signing in was taken from the member; null: it was not
        invited_by (None | str): id of the key or member that invited; null: not known
        created_at (datetime.datetime):
        joined_at (datetime.datetime | None): of the first sign-in; null: there was none
        invitation_expires_at (datetime.datetime | None): of the invitation that waits; null: there is none
        code (str): lets anyone who has it choose the member's password, once; it is not shown again
        path (str): where it is turned in, below the server's address, with the code behind the #
    """

    id: str
    organization_id: str
    email: str
    role: MemberInvitedRole
    state: MemberInvitedState
    has_password: bool
    has_account: bool
    disabled_at: datetime.datetime | None
    invited_by: None | str
    created_at: datetime.datetime
    joined_at: datetime.datetime | None
    invitation_expires_at: datetime.datetime | None
    code: str
    path: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        organization_id = self.organization_id

        email = self.email

        role: str = self.role

        state: str = self.state

        has_password = self.has_password

        has_account = self.has_account

        disabled_at: None | str
        if isinstance(self.disabled_at, datetime.datetime):
            disabled_at = self.disabled_at.isoformat()
        else:
            disabled_at = self.disabled_at

        invited_by: None | str
        invited_by = self.invited_by

        created_at = self.created_at.isoformat()

        joined_at: None | str
        if isinstance(self.joined_at, datetime.datetime):
            joined_at = self.joined_at.isoformat()
        else:
            joined_at = self.joined_at

        invitation_expires_at: None | str
        if isinstance(self.invitation_expires_at, datetime.datetime):
            invitation_expires_at = self.invitation_expires_at.isoformat()
        else:
            invitation_expires_at = self.invitation_expires_at

        code = self.code

        path = self.path

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "organization_id": organization_id,
                "email": email,
                "role": role,
                "state": state,
                "has_password": has_password,
                "has_account": has_account,
                "disabled_at": disabled_at,
                "invited_by": invited_by,
                "created_at": created_at,
                "joined_at": joined_at,
                "invitation_expires_at": invitation_expires_at,
                "code": code,
                "path": path,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        organization_id = d.pop("organization_id")

        email = d.pop("email")

        role = check_member_invited_role(d.pop("role"))

        state = check_member_invited_state(d.pop("state"))

        has_password = d.pop("has_password")

        has_account = d.pop("has_account")

        def _parse_disabled_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                disabled_at_type_0 = datetime.datetime.fromisoformat(data)

                return disabled_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        disabled_at = _parse_disabled_at(d.pop("disabled_at"))

        def _parse_invited_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        invited_by = _parse_invited_by(d.pop("invited_by"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_joined_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                joined_at_type_0 = datetime.datetime.fromisoformat(data)

                return joined_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        joined_at = _parse_joined_at(d.pop("joined_at"))

        def _parse_invitation_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                invitation_expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return invitation_expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        invitation_expires_at = _parse_invitation_expires_at(
            d.pop("invitation_expires_at")
        )

        code = d.pop("code")

        path = d.pop("path")

        member_invited = cls(
            id=id,
            organization_id=organization_id,
            email=email,
            role=role,
            state=state,
            has_password=has_password,
            has_account=has_account,
            disabled_at=disabled_at,
            invited_by=invited_by,
            created_at=created_at,
            joined_at=joined_at,
            invitation_expires_at=invitation_expires_at,
            code=code,
            path=path,
        )

        member_invited.additional_properties = d
        return member_invited

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
