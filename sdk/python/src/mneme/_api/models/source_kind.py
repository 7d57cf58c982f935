from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SourceKind")


@_attrs_define
class SourceKind:
    """
    Attributes:
        name (str):
        title (str): for people
        summary (str):
        config (Any): JSON Schema of the settings
        secrets (Any): JSON Schema of the secrets, which are strings
        incremental (bool): whether a run can ask for what has changed alone
        revokes (bool): whether a grant of a source of that name takes these secrets, to be given back with
    """

    name: str
    title: str
    summary: str
    config: Any
    secrets: Any
    incremental: bool
    revokes: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        title = self.title

        summary = self.summary

        config = self.config

        secrets = self.secrets

        incremental = self.incremental

        revokes = self.revokes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "title": title,
                "summary": summary,
                "config": config,
                "secrets": secrets,
                "incremental": incremental,
                "revokes": revokes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        title = d.pop("title")

        summary = d.pop("summary")

        config = d.pop("config")

        secrets = d.pop("secrets")

        incremental = d.pop("incremental")

        revokes = d.pop("revokes")

        source_kind = cls(
            name=name,
            title=title,
            summary=summary,
            config=config,
            secrets=secrets,
            incremental=incremental,
            revokes=revokes,
        )

        source_kind.additional_properties = d
        return source_kind

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
