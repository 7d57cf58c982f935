from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.openai_models_object import OpenaiModelsObject, check_openai_models_object

if TYPE_CHECKING:
    from ..models.openai_model import OpenaiModel


T = TypeVar("T", bound="OpenaiModels")


@_attrs_define
class OpenaiModels:
    """
    Attributes:
        object_ (OpenaiModelsObject):
        data (list[OpenaiModel]): models, and their aliases, by name
    """

    object_: OpenaiModelsObject
    data: list[OpenaiModel]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_: str = self.object_

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "data": data,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.openai_model import OpenaiModel

        d = dict(src_dict)
        object_ = check_openai_models_object(d.pop("object"))

        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = OpenaiModel.from_dict(data_item_data)

            data.append(data_item)

        openai_models = cls(
            object_=object_,
            data=data,
        )

        openai_models.additional_properties = d
        return openai_models

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
