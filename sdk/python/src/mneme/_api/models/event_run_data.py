from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.event_run_data_status import (
    EventRunDataStatus,
    check_event_run_data_status,
)

if TYPE_CHECKING:
    from ..models.event_run_counts import EventRunCounts


T = TypeVar("T", bound="EventRunData")


@_attrs_define
class EventRunData:
    """
    Attributes:
        organization_id (str):
        source_id (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        run_id (str):
        status (EventRunDataStatus):
        error (None | str): code of what it failed with; null: it did not
        counts (EventRunCounts):
        started_at (datetime.datetime | None): null: it never began
    """

    organization_id: str
    source_id: str
    namespace: str
    run_id: str
    status: EventRunDataStatus
    error: None | str
    counts: EventRunCounts
    started_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        organization_id = self.organization_id

        source_id = self.source_id

        namespace = self.namespace

        run_id = self.run_id

        status: str = self.status

        error: None | str
        error = self.error

        counts = self.counts.to_dict()

        started_at: None | str
        if isinstance(self.started_at, datetime.datetime):
            started_at = self.started_at.isoformat()
        else:
            started_at = self.started_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "organization_id": organization_id,
                "source_id": source_id,
                "namespace": namespace,
                "run_id": run_id,
                "status": status,
                "error": error,
                "counts": counts,
                "started_at": started_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.event_run_counts import EventRunCounts

        d = dict(src_dict)
        organization_id = d.pop("organization_id")

        source_id = d.pop("source_id")

        namespace = d.pop("namespace")

        run_id = d.pop("run_id")

        status = check_event_run_data_status(d.pop("status"))

        def _parse_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error = _parse_error(d.pop("error"))

        counts = EventRunCounts.from_dict(d.pop("counts"))

        def _parse_started_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                started_at_type_0 = datetime.datetime.fromisoformat(data)

                return started_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        started_at = _parse_started_at(d.pop("started_at"))

        event_run_data = cls(
            organization_id=organization_id,
            source_id=source_id,
            namespace=namespace,
            run_id=run_id,
            status=status,
            error=error,
            counts=counts,
            started_at=started_at,
        )

        event_run_data.additional_properties = d
        return event_run_data

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
