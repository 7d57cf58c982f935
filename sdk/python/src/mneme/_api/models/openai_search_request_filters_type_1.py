from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.openai_search_request_filters_type_1_type import (
    OpenaiSearchRequestFiltersType1Type,
    check_openai_search_request_filters_type_1_type,
)

T = TypeVar("T", bound="OpenaiSearchRequestFiltersType1")


@_attrs_define
class OpenaiSearchRequestFiltersType1:
    """
    Attributes:
        key (str):
        type_ (OpenaiSearchRequestFiltersType1Type):
        value (list[bool | float | str]):
    """

    key: str
    type_: OpenaiSearchRequestFiltersType1Type
    value: list[bool | float | str]

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        type_: str = self.type_

        value = []
        for value_item_data in self.value:
            value_item: bool | float | str
            value_item = value_item_data
            value.append(value_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
                "type": type_,
                "value": value,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        key = d.pop("key")

        type_ = check_openai_search_request_filters_type_1_type(d.pop("type"))

        value = []
        _value = d.pop("value")
        for value_item_data in _value:

            def _parse_value_item(data: object) -> bool | float | str:
                return cast(bool | float | str, data)

            value_item = _parse_value_item(value_item_data)

            value.append(value_item)

        openai_search_request_filters_type_1 = cls(
            key=key,
            type_=type_,
            value=value,
        )

        return openai_search_request_filters_type_1
