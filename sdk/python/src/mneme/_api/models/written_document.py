from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WrittenDocument")


@_attrs_define
class WrittenDocument:
    """
    Attributes:
        id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        created (bool): the id was new
        unchanged (bool): the same was stored already
        chunks (int):
        updated_at (datetime.datetime):
    """

    id: str
    created: bool
    unchanged: bool
    chunks: int
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        created = self.created

        unchanged = self.unchanged

        chunks = self.chunks

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "created": created,
                "unchanged": unchanged,
                "chunks": chunks,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        created = d.pop("created")

        unchanged = d.pop("unchanged")

        chunks = d.pop("chunks")

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        written_document = cls(
            id=id,
            created=created,
            unchanged=unchanged,
            chunks=chunks,
            updated_at=updated_at,
        )

        written_document.additional_properties = d
        return written_document

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
