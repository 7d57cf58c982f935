from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="UsageKept")


@_attrs_define
class UsageKept:
    """
    Attributes:
        organization_id (str):
        namespace (None | str): null: it is what an integration keeps
        integration_id (None | str): null: it is what a namespace keeps
        bytes_ (int): UTF-8 bytes of the texts of documents or memories
        since (datetime.datetime): hour in which they came to be so many
    """

    organization_id: str
    namespace: None | str
    integration_id: None | str
    bytes_: int
    since: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        organization_id = self.organization_id

        namespace: None | str
        namespace = self.namespace

        integration_id: None | str
        integration_id = self.integration_id

        bytes_ = self.bytes_

        since = self.since.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "organization_id": organization_id,
                "namespace": namespace,
                "integration_id": integration_id,
                "bytes": bytes_,
                "since": since,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        organization_id = d.pop("organization_id")

        def _parse_namespace(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        namespace = _parse_namespace(d.pop("namespace"))

        def _parse_integration_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        integration_id = _parse_integration_id(d.pop("integration_id"))

        bytes_ = d.pop("bytes")

        since = datetime.datetime.fromisoformat(d.pop("since"))

        usage_kept = cls(
            organization_id=organization_id,
            namespace=namespace,
            integration_id=integration_id,
            bytes_=bytes_,
            since=since,
        )

        usage_kept.additional_properties = d
        return usage_kept

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
