from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.openai_search_request_filters_type_2_type import (
    OpenaiSearchRequestFiltersType2Type,
    check_openai_search_request_filters_type_2_type,
)

if TYPE_CHECKING:
    from ..models.openai_search_request_filters_type_2_filters_item import (
        OpenaiSearchRequestFiltersType2FiltersItem,
    )


T = TypeVar("T", bound="OpenaiSearchRequestFiltersType2")


@_attrs_define
class OpenaiSearchRequestFiltersType2:
    """
    Attributes:
        filters (list[OpenaiSearchRequestFiltersType2FiltersItem]):
        type_ (OpenaiSearchRequestFiltersType2Type):
    """

    filters: list[OpenaiSearchRequestFiltersType2FiltersItem]
    type_: OpenaiSearchRequestFiltersType2Type

    def to_dict(self) -> dict[str, Any]:
        filters = []
        for filters_item_data in self.filters:
            filters_item = filters_item_data.to_dict()
            filters.append(filters_item)

        type_: str = self.type_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "filters": filters,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.openai_search_request_filters_type_2_filters_item import (
            OpenaiSearchRequestFiltersType2FiltersItem,
        )

        d = dict(src_dict)
        filters = []
        _filters = d.pop("filters")
        for filters_item_data in _filters:
            filters_item = OpenaiSearchRequestFiltersType2FiltersItem.from_dict(
                filters_item_data
            )

            filters.append(filters_item)

        type_ = check_openai_search_request_filters_type_2_type(d.pop("type"))

        openai_search_request_filters_type_2 = cls(
            filters=filters,
            type_=type_,
        )

        return openai_search_request_filters_type_2
