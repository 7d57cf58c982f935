from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.source_deletions import SourceDeletions, check_source_deletions
from ..models.source_state import SourceState, check_source_state

if TYPE_CHECKING:
    from ..models.source_reason import SourceReason
    from ..models.source_run import SourceRun
    from ..models.source_schedule_output import SourceScheduleOutput


T = TypeVar("T", bound="Source")


@_attrs_define
class Source:
    """
    Attributes:
        id (str):
        name (str): for people
        kind (str): as in GET /source_kinds
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        config (Any): settings, as the kind's schema wants them
        secrets_set (list[str]): names of the secrets that are set; their values are never answered
        schedule (None | SourceScheduleOutput): when runs begin by themselves; null: they do not
        deletions (SourceDeletions): what becomes of documents whose items are gone
        enabled (bool):
        state (SourceState):
        state_reason (None | SourceReason): why the state is error; else null
        items (int): items that are kept, failed ones included
        documents (int): documents that were made of them
        last_run (None | SourceRun): the newest run; null: there was none
        next_run_at (datetime.datetime | None): null: no run is planned
        created_at (datetime.datetime):
        updated_at (datetime.datetime): of its settings
    """

    id: str
    name: str
    kind: str
    namespace: str
    config: Any
    secrets_set: list[str]
    schedule: None | SourceScheduleOutput
    deletions: SourceDeletions
    enabled: bool
    state: SourceState
    state_reason: None | SourceReason
    items: int
    documents: int
    last_run: None | SourceRun
    next_run_at: datetime.datetime | None
    created_at: datetime.datetime
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.source_reason import SourceReason
        from ..models.source_run import SourceRun
        from ..models.source_schedule_output import SourceScheduleOutput

        id = self.id

        name = self.name

        kind = self.kind

        namespace = self.namespace

        config = self.config

        secrets_set = self.secrets_set

        schedule: dict[str, Any] | None
        if isinstance(self.schedule, SourceScheduleOutput):
            schedule = self.schedule.to_dict()
        else:
            schedule = self.schedule

        deletions: str = self.deletions

        enabled = self.enabled

        state: str = self.state

        state_reason: dict[str, Any] | None
        if isinstance(self.state_reason, SourceReason):
            state_reason = self.state_reason.to_dict()
        else:
            state_reason = self.state_reason

        items = self.items

        documents = self.documents

        last_run: dict[str, Any] | None
        if isinstance(self.last_run, SourceRun):
            last_run = self.last_run.to_dict()
        else:
            last_run = self.last_run

        next_run_at: None | str
        if isinstance(self.next_run_at, datetime.datetime):
            next_run_at = self.next_run_at.isoformat()
        else:
            next_run_at = self.next_run_at

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "kind": kind,
                "namespace": namespace,
                "config": config,
                "secrets_set": secrets_set,
                "schedule": schedule,
                "deletions": deletions,
                "enabled": enabled,
                "state": state,
                "state_reason": state_reason,
                "items": items,
                "documents": documents,
                "last_run": last_run,
                "next_run_at": next_run_at,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.source_reason import SourceReason
        from ..models.source_run import SourceRun
        from ..models.source_schedule_output import SourceScheduleOutput

        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        kind = d.pop("kind")

        namespace = d.pop("namespace")

        config = d.pop("config")

        secrets_set = cast(list[str], d.pop("secrets_set"))

        def _parse_schedule(data: object) -> None | SourceScheduleOutput:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                schedule_type_0 = SourceScheduleOutput.from_dict(data)

                return schedule_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SourceScheduleOutput, data)

        schedule = _parse_schedule(d.pop("schedule"))

        deletions = check_source_deletions(d.pop("deletions"))

        enabled = d.pop("enabled")

        state = check_source_state(d.pop("state"))

        def _parse_state_reason(data: object) -> None | SourceReason:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                state_reason_type_0 = SourceReason.from_dict(data)

                return state_reason_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SourceReason, data)

        state_reason = _parse_state_reason(d.pop("state_reason"))

        items = d.pop("items")

        documents = d.pop("documents")

        def _parse_last_run(data: object) -> None | SourceRun:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                last_run_type_0 = SourceRun.from_dict(data)

                return last_run_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SourceRun, data)

        last_run = _parse_last_run(d.pop("last_run"))

        def _parse_next_run_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_run_at_type_0 = datetime.datetime.fromisoformat(data)

                return next_run_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        next_run_at = _parse_next_run_at(d.pop("next_run_at"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        source = cls(
            id=id,
            name=name,
            kind=kind,
            namespace=namespace,
            config=config,
            secrets_set=secrets_set,
            schedule=schedule,
            deletions=deletions,
            enabled=enabled,
            state=state,
            state_reason=state_reason,
            items=items,
            documents=documents,
            last_run=last_run,
            next_run_at=next_run_at,
            created_at=created_at,
            updated_at=updated_at,
        )

        source.additional_properties = d
        return source

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
