from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.event_model_data_kind import (
    EventModelDataKind,
    check_event_model_data_kind,
)
from ..models.event_model_data_status import (
    EventModelDataStatus,
    check_event_model_data_status,
)

T = TypeVar("T", bound="EventModelData")


@_attrs_define
class EventModelData:
    """
    Attributes:
        organization_id (str):
        model_id (str): as GET /models has it
        kind (EventModelDataKind): what it is used for
        status (EventModelDataStatus):
        previous (None | str): its status before; null: the server has just started
        replica (str): the server that the model works for: each of several sees its own
    """

    organization_id: str
    model_id: str
    kind: EventModelDataKind
    status: EventModelDataStatus
    previous: None | str
    replica: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        organization_id = self.organization_id

        model_id = self.model_id

        kind: str = self.kind

        status: str = self.status

        previous: None | str
        previous = self.previous

        replica = self.replica

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "organization_id": organization_id,
                "model_id": model_id,
                "kind": kind,
                "status": status,
                "previous": previous,
                "replica": replica,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        organization_id = d.pop("organization_id")

        model_id = d.pop("model_id")

        kind = check_event_model_data_kind(d.pop("kind"))

        status = check_event_model_data_status(d.pop("status"))

        def _parse_previous(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        previous = _parse_previous(d.pop("previous"))

        replica = d.pop("replica")

        event_model_data = cls(
            organization_id=organization_id,
            model_id=model_id,
            kind=kind,
            status=status,
            previous=previous,
            replica=replica,
        )

        event_model_data.additional_properties = d
        return event_model_data

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
