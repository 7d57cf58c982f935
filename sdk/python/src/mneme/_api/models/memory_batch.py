from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.memory_batch_item import MemoryBatchItem


T = TypeVar("T", bound="MemoryBatch")


@_attrs_define
class MemoryBatch:
    """
    Attributes:
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        memories (list[MemoryBatchItem]): memories to save, of at most 1 MiB of content together
    """

    end_user_id: str
    memories: list[MemoryBatchItem]

    def to_dict(self) -> dict[str, Any]:
        end_user_id = self.end_user_id

        memories = []
        for memories_item_data in self.memories:
            memories_item = memories_item_data.to_dict()
            memories.append(memories_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "endUserId": end_user_id,
                "memories": memories,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.memory_batch_item import MemoryBatchItem

        d = dict(src_dict)
        end_user_id = d.pop("endUserId")

        memories = []
        _memories = d.pop("memories")
        for memories_item_data in _memories:
            memories_item = MemoryBatchItem.from_dict(memories_item_data)

            memories.append(memories_item)

        memory_batch = cls(
            end_user_id=end_user_id,
            memories=memories,
        )

        return memory_batch
