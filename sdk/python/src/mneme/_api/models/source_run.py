from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.source_run_mode import SourceRunMode, check_source_run_mode
from ..models.source_run_status import SourceRunStatus, check_source_run_status
from ..models.source_run_trigger import SourceRunTrigger, check_source_run_trigger

if TYPE_CHECKING:
    from ..models.port_source_counts import PortSourceCounts
    from ..models.source_reason import SourceReason


T = TypeVar("T", bound="SourceRun")


@_attrs_define
class SourceRun:
    """
    Attributes:
        id (str):
        source_id (str):
        trigger (SourceRunTrigger):
        mode (SourceRunMode): whether it asks for everything, or for what has changed
        status (SourceRunStatus): partial: something of the source is not reflected; interrupted: it made no progress,
            or its process is gone and another is to go on
        counts (PortSourceCounts):
        error (None | SourceReason): why it failed, or is partial although no item failed; else null
        created_at (datetime.datetime):
        started_at (datetime.datetime | None):
        heartbeat_at (datetime.datetime | None): when it was last known to be alive
        finished_at (datetime.datetime | None):
    """

    id: str
    source_id: str
    trigger: SourceRunTrigger
    mode: SourceRunMode
    status: SourceRunStatus
    counts: PortSourceCounts
    error: None | SourceReason
    created_at: datetime.datetime
    started_at: datetime.datetime | None
    heartbeat_at: datetime.datetime | None
    finished_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.source_reason import SourceReason

        id = self.id

        source_id = self.source_id

        trigger: str = self.trigger

        mode: str = self.mode

        status: str = self.status

        counts = self.counts.to_dict()

        error: dict[str, Any] | None
        if isinstance(self.error, SourceReason):
            error = self.error.to_dict()
        else:
            error = self.error

        created_at = self.created_at.isoformat()

        started_at: None | str
        if isinstance(self.started_at, datetime.datetime):
            started_at = self.started_at.isoformat()
        else:
            started_at = self.started_at

        heartbeat_at: None | str
        if isinstance(self.heartbeat_at, datetime.datetime):
            heartbeat_at = self.heartbeat_at.isoformat()
        else:
            heartbeat_at = self.heartbeat_at

        finished_at: None | str
        if isinstance(self.finished_at, datetime.datetime):
            finished_at = self.finished_at.isoformat()
        else:
            finished_at = self.finished_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "source_id": source_id,
                "trigger": trigger,
                "mode": mode,
                "status": status,
                "counts": counts,
                "error": error,
                "created_at": created_at,
                "started_at": started_at,
                "heartbeat_at": heartbeat_at,
                "finished_at": finished_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.port_source_counts import PortSourceCounts
        from ..models.source_reason import SourceReason

        d = dict(src_dict)
        id = d.pop("id")

        source_id = d.pop("source_id")

        trigger = check_source_run_trigger(d.pop("trigger"))

        mode = check_source_run_mode(d.pop("mode"))

        status = check_source_run_status(d.pop("status"))

        counts = PortSourceCounts.from_dict(d.pop("counts"))

        def _parse_error(data: object) -> None | SourceReason:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = SourceReason.from_dict(data)

                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SourceReason, data)

        error = _parse_error(d.pop("error"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

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

        def _parse_heartbeat_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                heartbeat_at_type_0 = datetime.datetime.fromisoformat(data)

                return heartbeat_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        heartbeat_at = _parse_heartbeat_at(d.pop("heartbeat_at"))

        def _parse_finished_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                finished_at_type_0 = datetime.datetime.fromisoformat(data)

                return finished_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        finished_at = _parse_finished_at(d.pop("finished_at"))

        source_run = cls(
            id=id,
            source_id=source_id,
            trigger=trigger,
            mode=mode,
            status=status,
            counts=counts,
            error=error,
            created_at=created_at,
            started_at=started_at,
            heartbeat_at=heartbeat_at,
            finished_at=finished_at,
        )

        source_run.additional_properties = d
        return source_run

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
