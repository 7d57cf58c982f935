from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.memory_plane_status import MemoryPlaneStatus, check_memory_plane_status

T = TypeVar("T", bound="MemoryPlane")


@_attrs_define
class MemoryPlane:
    """
    Attributes:
        status (MemoryPlaneStatus): whether store and indexes answer
        environment (str): as the server is configured
    """

    status: MemoryPlaneStatus
    environment: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        status: str = self.status

        environment = self.environment

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "status": status,
                "environment": environment,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        status = check_memory_plane_status(d.pop("status"))

        environment = d.pop("environment")

        memory_plane = cls(
            status=status,
            environment=environment,
        )

        memory_plane.additional_properties = d
        return memory_plane

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
