from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.update_source_deletions import (
    UpdateSourceDeletions,
    check_update_source_deletions,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.source_schedule import SourceSchedule
    from ..models.update_source_secrets import UpdateSourceSecrets


T = TypeVar("T", bound="UpdateSource")


@_attrs_define
class UpdateSource:
    """
    Attributes:
        name (None | str | Unset): for people
        config (Any | Unset): settings, all of them
        secrets (UpdateSourceSecrets | Unset): those to set; an empty text removes one
        schedule (None | SourceSchedule | Unset): an empty object removes it
        deletions (UpdateSourceDeletions | Unset): what becomes of documents whose items are gone
        enabled (bool | None | Unset): false pauses the source, true ends that
    """

    name: None | str | Unset = UNSET
    config: Any | Unset = UNSET
    secrets: UpdateSourceSecrets | Unset = UNSET
    schedule: None | SourceSchedule | Unset = UNSET
    deletions: UpdateSourceDeletions | Unset = UNSET
    enabled: bool | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.source_schedule import SourceSchedule

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

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

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if name is not UNSET:
            field_dict["name"] = name
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

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.source_schedule import SourceSchedule
        from ..models.update_source_secrets import UpdateSourceSecrets

        d = dict(src_dict)

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        config = d.pop("config", UNSET)

        _secrets = d.pop("secrets", UNSET)
        secrets: UpdateSourceSecrets | Unset
        if isinstance(_secrets, Unset):
            secrets = UNSET
        else:
            secrets = UpdateSourceSecrets.from_dict(_secrets)

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
        deletions: UpdateSourceDeletions | Unset
        if isinstance(_deletions, Unset):
            deletions = UNSET
        else:
            deletions = check_update_source_deletions(_deletions)

        def _parse_enabled(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        enabled = _parse_enabled(d.pop("enabled", UNSET))

        update_source = cls(
            name=name,
            config=config,
            secrets=secrets,
            schedule=schedule,
            deletions=deletions,
            enabled=enabled,
        )

        return update_source
