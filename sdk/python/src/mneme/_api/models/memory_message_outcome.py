from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.memory_message_outcome_outcome import (
    MemoryMessageOutcomeOutcome,
    check_memory_message_outcome_outcome,
)

if TYPE_CHECKING:
    from ..models.memory_ref import MemoryRef


T = TypeVar("T", bound="MemoryMessageOutcome")


@_attrs_define
class MemoryMessageOutcome:
    """
    Attributes:
        memory (MemoryRef):
        outcome (MemoryMessageOutcomeOutcome): unchanged: it was there already
    """

    memory: MemoryRef
    outcome: MemoryMessageOutcomeOutcome
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        memory = self.memory.to_dict()

        outcome: str = self.outcome

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "memory": memory,
                "outcome": outcome,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.memory_ref import MemoryRef

        d = dict(src_dict)
        memory = MemoryRef.from_dict(d.pop("memory"))

        outcome = check_memory_message_outcome_outcome(d.pop("outcome"))

        memory_message_outcome = cls(
            memory=memory,
            outcome=outcome,
        )

        memory_message_outcome.additional_properties = d
        return memory_message_outcome

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
