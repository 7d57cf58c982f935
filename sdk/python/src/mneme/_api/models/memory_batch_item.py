from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="MemoryBatchItem")


@_attrs_define
class MemoryBatchItem:
    """
    Attributes:
        content (None | str | Unset): at most 65536 bytes of UTF-8, not white space alone; an item without it fails
        container_tag (str | Unset): keeps memories apart within an end user; 1-128 characters of A-Z a-z 0-9 . _ : -,
            else the item fails
        metadata (Any | Unset): comes back with results; as of a single save, else the item fails
        occurred_at (None | str | Unset): RFC 3339, else the item fails; what created_at shows, in place of the time of
            saving
    """

    content: None | str | Unset = UNSET
    container_tag: str | Unset = UNSET
    metadata: Any | Unset = UNSET
    occurred_at: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        content: None | str | Unset
        if isinstance(self.content, Unset):
            content = UNSET
        else:
            content = self.content

        container_tag = self.container_tag

        metadata = self.metadata

        occurred_at: None | str | Unset
        if isinstance(self.occurred_at, Unset):
            occurred_at = UNSET
        else:
            occurred_at = self.occurred_at

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if content is not UNSET:
            field_dict["content"] = content
        if container_tag is not UNSET:
            field_dict["containerTag"] = container_tag
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if occurred_at is not UNSET:
            field_dict["occurredAt"] = occurred_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_content(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        content = _parse_content(d.pop("content", UNSET))

        container_tag = d.pop("containerTag", UNSET)

        metadata = d.pop("metadata", UNSET)

        def _parse_occurred_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        occurred_at = _parse_occurred_at(d.pop("occurredAt", UNSET))

        memory_batch_item = cls(
            content=content,
            container_tag=container_tag,
            metadata=metadata,
            occurred_at=occurred_at,
        )

        return memory_batch_item
