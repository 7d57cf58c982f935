from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="AdminOrganization")


@_attrs_define
class AdminOrganization:
    """
    Attributes:
        id (str):
        name (str): unique; in paths as good as the id
        suspended (bool): true: all its keys answer 403
        deleting_at (datetime.datetime | None): when its deletion began; null: it did not
        created_at (datetime.datetime):
        database (str | Unset): of several databases the one that it lies in
    """

    id: str
    name: str
    suspended: bool
    deleting_at: datetime.datetime | None
    created_at: datetime.datetime
    database: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        suspended = self.suspended

        deleting_at: None | str
        if isinstance(self.deleting_at, datetime.datetime):
            deleting_at = self.deleting_at.isoformat()
        else:
            deleting_at = self.deleting_at

        created_at = self.created_at.isoformat()

        database = self.database

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "suspended": suspended,
                "deleting_at": deleting_at,
                "created_at": created_at,
            }
        )
        if database is not UNSET:
            field_dict["database"] = database

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        suspended = d.pop("suspended")

        def _parse_deleting_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                deleting_at_type_0 = datetime.datetime.fromisoformat(data)

                return deleting_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        deleting_at = _parse_deleting_at(d.pop("deleting_at"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        database = d.pop("database", UNSET)

        admin_organization = cls(
            id=id,
            name=name,
            suspended=suspended,
            deleting_at=deleting_at,
            created_at=created_at,
            database=database,
        )

        admin_organization.additional_properties = d
        return admin_organization

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
