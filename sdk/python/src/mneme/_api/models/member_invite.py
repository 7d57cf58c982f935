from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.member_invite_role import MemberInviteRole, check_member_invite_role

T = TypeVar("T", bound="MemberInvite")


@_attrs_define
class MemberInvite:
    """
    Attributes:
        email (str): whom to invite; compared in lower case
        role (MemberInviteRole): owner: everything; admin: everything but members and keys of kind admin; viewer: reads
    """

    email: str
    role: MemberInviteRole

    def to_dict(self) -> dict[str, Any]:
        email = self.email

        role: str = self.role

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "email": email,
                "role": role,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        email = d.pop("email")

        role = check_member_invite_role(d.pop("role"))

        member_invite = cls(
            email=email,
            role=role,
        )

        return member_invite
