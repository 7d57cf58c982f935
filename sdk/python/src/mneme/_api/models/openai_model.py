from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.openai_model_kinds_item import (
    OpenaiModelKindsItem,
    check_openai_model_kinds_item,
)
from ..models.openai_model_object import OpenaiModelObject, check_openai_model_object
from ..types import UNSET, Unset

T = TypeVar("T", bound="OpenaiModel")


@_attrs_define
class OpenaiModel:
    """
    Attributes:
        id (str): as in requests
        object_ (OpenaiModelObject):
        created (int): 0: no model says when it was made
        owned_by (str): where it runs: wasm, plugin or remote
        kinds (list[OpenaiModelKindsItem]): what it does
        alias_of (str | Unset): the model that this is another name of
    """

    id: str
    object_: OpenaiModelObject
    created: int
    owned_by: str
    kinds: list[OpenaiModelKindsItem]
    alias_of: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_: str = self.object_

        created = self.created

        owned_by = self.owned_by

        kinds = []
        for kinds_item_data in self.kinds:
            kinds_item: str = kinds_item_data
            kinds.append(kinds_item)

        alias_of = self.alias_of

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "created": created,
                "owned_by": owned_by,
                "kinds": kinds,
            }
        )
        if alias_of is not UNSET:
            field_dict["alias_of"] = alias_of

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = check_openai_model_object(d.pop("object"))

        created = d.pop("created")

        owned_by = d.pop("owned_by")

        kinds = []
        _kinds = d.pop("kinds")
        for kinds_item_data in _kinds:
            kinds_item = check_openai_model_kinds_item(kinds_item_data)

            kinds.append(kinds_item)

        alias_of = d.pop("alias_of", UNSET)

        openai_model = cls(
            id=id,
            object_=object_,
            created=created,
            owned_by=owned_by,
            kinds=kinds,
            alias_of=alias_of,
        )

        openai_model.additional_properties = d
        return openai_model

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
