from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.event_delivery import EventDelivery
    from ..models.event_told_data import EventToldData


T = TypeVar("T", bound="EventTold")


@_attrs_define
class EventTold:
    """
    Attributes:
        id (str): the same in each answer and each delivery
        type_ (str): its kind
        timestamp (datetime.datetime): when it happened
        data (EventToldData): what it tells of; GET /event_kinds has the schema of each kind
        deliveries (list[EventDelivery]): to webhooks, the newest first, 100 at most; none for keys limited to a
            namespace
    """

    id: str
    type_: str
    timestamp: datetime.datetime
    data: EventToldData
    deliveries: list[EventDelivery]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        type_ = self.type_

        timestamp = self.timestamp.isoformat()

        data = self.data.to_dict()

        deliveries = []
        for deliveries_item_data in self.deliveries:
            deliveries_item = deliveries_item_data.to_dict()
            deliveries.append(deliveries_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "type": type_,
                "timestamp": timestamp,
                "data": data,
                "deliveries": deliveries,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.event_delivery import EventDelivery
        from ..models.event_told_data import EventToldData

        d = dict(src_dict)
        id = d.pop("id")

        type_ = d.pop("type")

        timestamp = datetime.datetime.fromisoformat(d.pop("timestamp"))

        data = EventToldData.from_dict(d.pop("data"))

        deliveries = []
        _deliveries = d.pop("deliveries")
        for deliveries_item_data in _deliveries:
            deliveries_item = EventDelivery.from_dict(deliveries_item_data)

            deliveries.append(deliveries_item)

        event_told = cls(
            id=id,
            type_=type_,
            timestamp=timestamp,
            data=data,
            deliveries=deliveries,
        )

        event_told.additional_properties = d
        return event_told

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
