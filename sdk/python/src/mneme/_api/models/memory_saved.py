from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.memory_ref import MemoryRef


T = TypeVar("T", bound="MemorySaved")


@_attrs_define
class MemorySaved:
    """
    Attributes:
        success (bool): whether it was saved
        deduped (bool): the content was there already, in this container
        created (bool): a new memory was created
        memory (MemoryRef | Unset):
        error (str | Unset): code and reason of a failed item
    """

    success: bool
    deduped: bool
    created: bool
    memory: MemoryRef | Unset = UNSET
    error: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        success = self.success

        deduped = self.deduped

        created = self.created

        memory: dict[str, Any] | Unset = UNSET
        if not isinstance(self.memory, Unset):
            memory = self.memory.to_dict()

        error = self.error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "success": success,
                "deduped": deduped,
                "created": created,
            }
        )
        if memory is not UNSET:
            field_dict["memory"] = memory
        if error is not UNSET:
            field_dict["error"] = error

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.memory_ref import MemoryRef

        d = dict(src_dict)
        success = d.pop("success")

        deduped = d.pop("deduped")

        created = d.pop("created")

        _memory = d.pop("memory", UNSET)
        memory: MemoryRef | Unset
        if isinstance(_memory, Unset):
            memory = UNSET
        else:
            memory = MemoryRef.from_dict(_memory)

        error = d.pop("error", UNSET)

        memory_saved = cls(
            success=success,
            deduped=deduped,
            created=created,
            memory=memory,
            error=error,
        )

        memory_saved.additional_properties = d
        return memory_saved

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
