from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.memory_message import MemoryMessage


T = TypeVar("T", bound="MemoryRemember")


@_attrs_define
class MemoryRemember:
    """
    Attributes:
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        messages (list[MemoryMessage]): messages to remember, of at most 1 MiB of content together
        container_tag (str | Unset): 1-128 characters of A-Z a-z 0-9 . _ : -
    """

    end_user_id: str
    messages: list[MemoryMessage]
    container_tag: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        end_user_id = self.end_user_id

        messages = []
        for messages_item_data in self.messages:
            messages_item = messages_item_data.to_dict()
            messages.append(messages_item)

        container_tag = self.container_tag

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "endUserId": end_user_id,
                "messages": messages,
            }
        )
        if container_tag is not UNSET:
            field_dict["containerTag"] = container_tag

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.memory_message import MemoryMessage

        d = dict(src_dict)
        end_user_id = d.pop("endUserId")

        messages = []
        _messages = d.pop("messages")
        for messages_item_data in _messages:
            messages_item = MemoryMessage.from_dict(messages_item_data)

            messages.append(messages_item)

        container_tag = d.pop("containerTag", UNSET)

        memory_remember = cls(
            end_user_id=end_user_id,
            messages=messages,
            container_tag=container_tag,
        )

        return memory_remember
