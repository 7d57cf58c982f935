from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.openai_found_object import OpenaiFoundObject, check_openai_found_object

if TYPE_CHECKING:
    from ..models.degraded import Degraded
    from ..models.openai_result import OpenaiResult


T = TypeVar("T", bound="OpenaiFound")


@_attrs_define
class OpenaiFound:
    """
    Attributes:
        object_ (OpenaiFoundObject):
        search_query (list[str]): the question as it was asked
        data (list[OpenaiResult]): best first
        has_more (bool): false
        next_page (None | str): null
        degraded (list[Degraded]): parts left out of this answer, or that took part with less, and why; not OpenAI's
    """

    object_: OpenaiFoundObject
    search_query: list[str]
    data: list[OpenaiResult]
    has_more: bool
    next_page: None | str
    degraded: list[Degraded]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_: str = self.object_

        search_query = self.search_query

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        has_more = self.has_more

        next_page: None | str
        next_page = self.next_page

        degraded = []
        for degraded_item_data in self.degraded:
            degraded_item = degraded_item_data.to_dict()
            degraded.append(degraded_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "search_query": search_query,
                "data": data,
                "has_more": has_more,
                "next_page": next_page,
                "degraded": degraded,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.degraded import Degraded
        from ..models.openai_result import OpenaiResult

        d = dict(src_dict)
        object_ = check_openai_found_object(d.pop("object"))

        search_query = cast(list[str], d.pop("search_query"))

        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = OpenaiResult.from_dict(data_item_data)

            data.append(data_item)

        has_more = d.pop("has_more")

        def _parse_next_page(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        next_page = _parse_next_page(d.pop("next_page"))

        degraded = []
        _degraded = d.pop("degraded")
        for degraded_item_data in _degraded:
            degraded_item = Degraded.from_dict(degraded_item_data)

            degraded.append(degraded_item)

        openai_found = cls(
            object_=object_,
            search_query=search_query,
            data=data,
            has_more=has_more,
            next_page=next_page,
            degraded=degraded,
        )

        openai_found.additional_properties = d
        return openai_found

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
