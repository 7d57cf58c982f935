from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.memory_plane import MemoryPlane


T = TypeVar("T", bound="MemoryBackends")


@_attrs_define
class MemoryBackends:
    """
    Attributes:
        memory_plane (MemoryPlane):
    """

    memory_plane: MemoryPlane
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        memory_plane = self.memory_plane.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "memoryPlane": memory_plane,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.memory_plane import MemoryPlane

        d = dict(src_dict)
        memory_plane = MemoryPlane.from_dict(d.pop("memoryPlane"))

        memory_backends = cls(
            memory_plane=memory_plane,
        )

        memory_backends.additional_properties = d
        return memory_backends

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
