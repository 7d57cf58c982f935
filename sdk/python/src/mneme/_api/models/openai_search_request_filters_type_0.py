from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.openai_search_request_filters_type_0_type import (
    OpenaiSearchRequestFiltersType0Type,
    check_openai_search_request_filters_type_0_type,
)

T = TypeVar("T", bound="OpenaiSearchRequestFiltersType0")


@_attrs_define
class OpenaiSearchRequestFiltersType0:
    """
    Attributes:
        key (str):
        type_ (OpenaiSearchRequestFiltersType0Type):
        value (bool | float | str):
    """

    key: str
    type_: OpenaiSearchRequestFiltersType0Type
    value: bool | float | str

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        type_: str = self.type_

        value: bool | float | str
        value = self.value

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

        type_ = check_openai_search_request_filters_type_0_type(d.pop("type"))

        def _parse_value(data: object) -> bool | float | str:
            return cast(bool | float | str, data)

        value = _parse_value(d.pop("value"))

        openai_search_request_filters_type_0 = cls(
            key=key,
            type_=type_,
            value=value,
        )

        return openai_search_request_filters_type_0
