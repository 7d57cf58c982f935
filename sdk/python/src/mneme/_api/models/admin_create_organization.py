from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AdminCreateOrganization")


@_attrs_define
class AdminCreateOrganization:
    """
    Attributes:
        name (str): its name, which does not begin with org_
        database (str | Unset): of several databases the one that it is to lie in; without it the server's setting
            decides
    """

    name: str
    database: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        database = self.database

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
            }
        )
        if database is not UNSET:
            field_dict["database"] = database

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        database = d.pop("database", UNSET)

        admin_create_organization = cls(
            name=name,
            database=database,
        )

        return admin_create_organization
