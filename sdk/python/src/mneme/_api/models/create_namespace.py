from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CreateNamespace")


@_attrs_define
class CreateNamespace:
    """
    Attributes:
        name (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        sparse (bool | Unset): whether the namespace has a learned-sparse index; default: false
    """

    name: str
    sparse: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        sparse = self.sparse

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
            }
        )
        if sparse is not UNSET:
            field_dict["sparse"] = sparse

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        sparse = d.pop("sparse", UNSET)

        create_namespace = cls(
            name=name,
            sparse=sparse,
        )

        return create_namespace
