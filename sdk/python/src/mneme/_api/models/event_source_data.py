from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.event_source_data_state import (
    EventSourceDataState,
    check_event_source_data_state,
)

T = TypeVar("T", bound="EventSourceData")


@_attrs_define
class EventSourceData:
    """
    Attributes:
        organization_id (str):
        source_id (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        state (EventSourceDataState):
        previous (None | str): its state before; null: it is new
        reason (None | str): code of why the state is error; null: it is another
    """

    organization_id: str
    source_id: str
    namespace: str
    state: EventSourceDataState
    previous: None | str
    reason: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        organization_id = self.organization_id

        source_id = self.source_id

        namespace = self.namespace

        state: str = self.state

        previous: None | str
        previous = self.previous

        reason: None | str
        reason = self.reason

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "organization_id": organization_id,
                "source_id": source_id,
                "namespace": namespace,
                "state": state,
                "previous": previous,
                "reason": reason,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        organization_id = d.pop("organization_id")

        source_id = d.pop("source_id")

        namespace = d.pop("namespace")

        state = check_event_source_data_state(d.pop("state"))

        def _parse_previous(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        previous = _parse_previous(d.pop("previous"))

        def _parse_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reason = _parse_reason(d.pop("reason"))

        event_source_data = cls(
            organization_id=organization_id,
            source_id=source_id,
            namespace=namespace,
            state=state,
            previous=previous,
            reason=reason,
        )

        event_source_data.additional_properties = d
        return event_source_data

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
