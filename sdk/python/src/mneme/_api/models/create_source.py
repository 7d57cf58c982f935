from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.create_source_deletions import (
    CreateSourceDeletions,
    check_create_source_deletions,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.create_source_secrets import CreateSourceSecrets
    from ..models.source_schedule import SourceSchedule


T = TypeVar("T", bound="CreateSource")


@_attrs_define
class CreateSource:
    """
    Attributes:
        name (str): for people
        kind (str): as in GET /source_kinds
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        config (Any | Unset): settings, an object as the kind's schema wants it
        secrets (CreateSourceSecrets | Unset): as the kind's schema wants them; written, never read back
        schedule (None | SourceSchedule | Unset): when runs begin by themselves; left out: they do not
        deletions (CreateSourceDeletions | Unset): what becomes of documents whose items are gone; left out: as is usual
            for the kind, propagate for most
        enabled (bool | None | Unset): false: it is paused; default: true
        start (bool | None | Unset): whether the first run begins at once; default: true
    """

    name: str
    kind: str
    namespace: str
    config: Any | Unset = UNSET
    secrets: CreateSourceSecrets | Unset = UNSET
    schedule: None | SourceSchedule | Unset = UNSET
    deletions: CreateSourceDeletions | Unset = UNSET
    enabled: bool | None | Unset = UNSET
    start: bool | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.source_schedule import SourceSchedule

        name = self.name

        kind = self.kind

        namespace = self.namespace

        config = self.config

        secrets: dict[str, Any] | Unset = UNSET
        if not isinstance(self.secrets, Unset):
            secrets = self.secrets.to_dict()

        schedule: dict[str, Any] | None | Unset
        if isinstance(self.schedule, Unset):
            schedule = UNSET
        elif isinstance(self.schedule, SourceSchedule):
            schedule = self.schedule.to_dict()
        else:
            schedule = self.schedule

        deletions: str | Unset = UNSET
        if not isinstance(self.deletions, Unset):
            deletions = self.deletions

        enabled: bool | None | Unset
        if isinstance(self.enabled, Unset):
            enabled = UNSET
        else:
            enabled = self.enabled

        start: bool | None | Unset
        if isinstance(self.start, Unset):
            start = UNSET
        else:
            start = self.start

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "kind": kind,
                "namespace": namespace,
            }
        )
        if config is not UNSET:
            field_dict["config"] = config
        if secrets is not UNSET:
            field_dict["secrets"] = secrets
        if schedule is not UNSET:
            field_dict["schedule"] = schedule
        if deletions is not UNSET:
            field_dict["deletions"] = deletions
        if enabled is not UNSET:
            field_dict["enabled"] = enabled
        if start is not UNSET:
            field_dict["start"] = start

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.create_source_secrets import CreateSourceSecrets
        from ..models.source_schedule import SourceSchedule

        d = dict(src_dict)
        name = d.pop("name")

        kind = d.pop("kind")

        namespace = d.pop("namespace")

        config = d.pop("config", UNSET)

        _secrets = d.pop("secrets", UNSET)
        secrets: CreateSourceSecrets | Unset
        if isinstance(_secrets, Unset):
            secrets = UNSET
        else:
            secrets = CreateSourceSecrets.from_dict(_secrets)

        def _parse_schedule(data: object) -> None | SourceSchedule | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                schedule_type_0 = SourceSchedule.from_dict(data)

                return schedule_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SourceSchedule | Unset, data)

        schedule = _parse_schedule(d.pop("schedule", UNSET))

        _deletions = d.pop("deletions", UNSET)
        deletions: CreateSourceDeletions | Unset
        if isinstance(_deletions, Unset):
            deletions = UNSET
        else:
            deletions = check_create_source_deletions(_deletions)

        def _parse_enabled(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        enabled = _parse_enabled(d.pop("enabled", UNSET))

        def _parse_start(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        start = _parse_start(d.pop("start", UNSET))

        create_source = cls(
            name=name,
            kind=kind,
            namespace=namespace,
            config=config,
            secrets=secrets,
            schedule=schedule,
            deletions=deletions,
            enabled=enabled,
            start=start,
        )

        return create_source
