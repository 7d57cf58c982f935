from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.webhook_delivery_status import (
    WebhookDeliveryStatus,
    check_webhook_delivery_status,
)

if TYPE_CHECKING:
    from ..models.webhook_attempt import WebhookAttempt


T = TypeVar("T", bound="WebhookDelivery")


@_attrs_define
class WebhookDelivery:
    """
    Attributes:
        id (str):
        event_id (str): also the header webhook-id
        kind (str): of the event
        entity (str): what the event happened to: of one entity one delivery goes after the other
        status (WebhookDeliveryStatus): failed: so did all attempts; dropped: the webhook was disabled
        tries (int): how many attempts there were
        attempts (list[WebhookAttempt]): the last ones, in order
        next_attempt_at (datetime.datetime | None): null: it has ended, or waits for an earlier one of its entity
        redelivery_of (None | str): id of the delivery that it repeats; null: it repeats none
        created_at (datetime.datetime):
        updated_at (datetime.datetime):
    """

    id: str
    event_id: str
    kind: str
    entity: str
    status: WebhookDeliveryStatus
    tries: int
    attempts: list[WebhookAttempt]
    next_attempt_at: datetime.datetime | None
    redelivery_of: None | str
    created_at: datetime.datetime
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        event_id = self.event_id

        kind = self.kind

        entity = self.entity

        status: str = self.status

        tries = self.tries

        attempts = []
        for attempts_item_data in self.attempts:
            attempts_item = attempts_item_data.to_dict()
            attempts.append(attempts_item)

        next_attempt_at: None | str
        if isinstance(self.next_attempt_at, datetime.datetime):
            next_attempt_at = self.next_attempt_at.isoformat()
        else:
            next_attempt_at = self.next_attempt_at

        redelivery_of: None | str
        redelivery_of = self.redelivery_of

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "event_id": event_id,
                "kind": kind,
                "entity": entity,
                "status": status,
                "tries": tries,
                "attempts": attempts,
                "next_attempt_at": next_attempt_at,
                "redelivery_of": redelivery_of,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.webhook_attempt import WebhookAttempt

        d = dict(src_dict)
        id = d.pop("id")

        event_id = d.pop("event_id")

        kind = d.pop("kind")

        entity = d.pop("entity")

        status = check_webhook_delivery_status(d.pop("status"))

        tries = d.pop("tries")

        attempts = []
        _attempts = d.pop("attempts")
        for attempts_item_data in _attempts:
            attempts_item = WebhookAttempt.from_dict(attempts_item_data)

            attempts.append(attempts_item)

        def _parse_next_attempt_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_attempt_at_type_0 = datetime.datetime.fromisoformat(data)

                return next_attempt_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        next_attempt_at = _parse_next_attempt_at(d.pop("next_attempt_at"))

        def _parse_redelivery_of(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        redelivery_of = _parse_redelivery_of(d.pop("redelivery_of"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        webhook_delivery = cls(
            id=id,
            event_id=event_id,
            kind=kind,
            entity=entity,
            status=status,
            tries=tries,
            attempts=attempts,
            next_attempt_at=next_attempt_at,
            redelivery_of=redelivery_of,
            created_at=created_at,
            updated_at=updated_at,
        )

        webhook_delivery.additional_properties = d
        return webhook_delivery

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
