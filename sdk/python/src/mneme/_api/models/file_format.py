from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="FileFormat")


@_attrs_define
class FileFormat:
    """
    Attributes:
        media_type (str):
        name (str): for people
        extensions (list[str]): of file names, with the dot
    """

    media_type: str
    name: str
    extensions: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        media_type = self.media_type

        name = self.name

        extensions = self.extensions

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "media_type": media_type,
                "name": name,
                "extensions": extensions,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        media_type = d.pop("media_type")

        name = d.pop("name")

        extensions = cast(list[str], d.pop("extensions"))

        file_format = cls(
            media_type=media_type,
            name=name,
            extensions=extensions,
        )

        file_format.additional_properties = d
        return file_format

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
