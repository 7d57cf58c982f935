from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AdminEndUser")


@_attrs_define
class AdminEndUser:
    """
    Attributes:
        id (str): the end user
        integration (str): id of the integration
        integration_name (str): name of the integration
        memories (int):
        containers (int): distinct container tags
        bytes_ (int): UTF-8 bytes of the memories
        first_seen (datetime.datetime):
        last_seen (datetime.datetime): of a write or a search; searches come in about half a minute late
        erasing (datetime.datetime | None): since when an erasure is under way; null: none is
    """

    id: str
    integration: str
    integration_name: str
    memories: int
    containers: int
    bytes_: int
    first_seen: datetime.datetime
    last_seen: datetime.datetime
    erasing: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        integration = self.integration

        integration_name = self.integration_name

        memories = self.memories

        containers = self.containers

        bytes_ = self.bytes_

        first_seen = self.first_seen.isoformat()

        last_seen = self.last_seen.isoformat()

        erasing: None | str
        if isinstance(self.erasing, datetime.datetime):
            erasing = self.erasing.isoformat()
        else:
            erasing = self.erasing

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "integration": integration,
                "integration_name": integration_name,
                "memories": memories,
                "containers": containers,
                "bytes": bytes_,
                "first_seen": first_seen,
                "last_seen": last_seen,
                "erasing": erasing,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        integration = d.pop("integration")

        integration_name = d.pop("integration_name")

        memories = d.pop("memories")

        containers = d.pop("containers")

        bytes_ = d.pop("bytes")

        first_seen = datetime.datetime.fromisoformat(d.pop("first_seen"))

        last_seen = datetime.datetime.fromisoformat(d.pop("last_seen"))

        def _parse_erasing(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                erasing_type_0 = datetime.datetime.fromisoformat(data)

                return erasing_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        erasing = _parse_erasing(d.pop("erasing"))

        admin_end_user = cls(
            id=id,
            integration=integration,
            integration_name=integration_name,
            memories=memories,
            containers=containers,
            bytes_=bytes_,
            first_seen=first_seen,
            last_seen=last_seen,
            erasing=erasing,
        )

        admin_end_user.additional_properties = d
        return admin_end_user

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
