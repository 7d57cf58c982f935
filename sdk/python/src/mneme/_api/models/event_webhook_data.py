from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.event_webhook_data_reason import (
    EventWebhookDataReason,
    check_event_webhook_data_reason,
)

T = TypeVar("T", bound="EventWebhookData")


@_attrs_define
class EventWebhookData:
    """
    Attributes:
        organization_id (str):
        webhook_id (str):
        reason (EventWebhookDataReason): gone: its endpoint answered 410; failing: it took nothing for days
        failing_since (datetime.datetime | None): when the first delivery failed that none has succeeded after; null:
            none has
    """

    organization_id: str
    webhook_id: str
    reason: EventWebhookDataReason
    failing_since: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        organization_id = self.organization_id

        webhook_id = self.webhook_id

        reason: str = self.reason

        failing_since: None | str
        if isinstance(self.failing_since, datetime.datetime):
            failing_since = self.failing_since.isoformat()
        else:
            failing_since = self.failing_since

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "organization_id": organization_id,
                "webhook_id": webhook_id,
                "reason": reason,
                "failing_since": failing_since,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        organization_id = d.pop("organization_id")

        webhook_id = d.pop("webhook_id")

        reason = check_event_webhook_data_reason(d.pop("reason"))

        def _parse_failing_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                failing_since_type_0 = datetime.datetime.fromisoformat(data)

                return failing_since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        failing_since = _parse_failing_since(d.pop("failing_since"))

        event_webhook_data = cls(
            organization_id=organization_id,
            webhook_id=webhook_id,
            reason=reason,
            failing_since=failing_since,
        )

        event_webhook_data.additional_properties = d
        return event_webhook_data

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
