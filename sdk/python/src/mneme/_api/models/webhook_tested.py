from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WebhookTested")


@_attrs_define
class WebhookTested:
    """
    Attributes:
        delivered (bool): whether the endpoint answered 2xx
        event_id (str): the header webhook-id of the test
        at (datetime.datetime):
        status (int | None): of the answer; null: there was none
        ms (int): how long it took
        error (None | str): what it failed for; null: it succeeded
        answer (None | str): the first 512 bytes of the answer; null: it was empty
    """

    delivered: bool
    event_id: str
    at: datetime.datetime
    status: int | None
    ms: int
    error: None | str
    answer: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        delivered = self.delivered

        event_id = self.event_id

        at = self.at.isoformat()

        status: int | None
        status = self.status

        ms = self.ms

        error: None | str
        error = self.error

        answer: None | str
        answer = self.answer

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "delivered": delivered,
                "event_id": event_id,
                "at": at,
                "status": status,
                "ms": ms,
                "error": error,
                "answer": answer,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        delivered = d.pop("delivered")

        event_id = d.pop("event_id")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        def _parse_status(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        status = _parse_status(d.pop("status"))

        ms = d.pop("ms")

        def _parse_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error = _parse_error(d.pop("error"))

        def _parse_answer(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        answer = _parse_answer(d.pop("answer"))

        webhook_tested = cls(
            delivered=delivered,
            event_id=event_id,
            at=at,
            status=status,
            ms=ms,
            error=error,
            answer=answer,
        )

        webhook_tested.additional_properties = d
        return webhook_tested

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
