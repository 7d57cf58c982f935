from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.source_push_item import SourcePushItem


T = TypeVar("T", bound="SourcePushItems")


@_attrs_define
class SourcePushItems:
    """
    Attributes:
        items (list[SourcePushItem]): each key once
        run_id (str | Unset): run that these items are part of; left out: they are changes of their own
    """

    items: list[SourcePushItem]
    run_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        run_id = self.run_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "items": items,
            }
        )
        if run_id is not UNSET:
            field_dict["run_id"] = run_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.source_push_item import SourcePushItem

        d = dict(src_dict)
        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = SourcePushItem.from_dict(items_item_data)

            items.append(items_item)

        run_id = d.pop("run_id", UNSET)

        source_push_items = cls(
            items=items,
            run_id=run_id,
        )

        return source_push_items
