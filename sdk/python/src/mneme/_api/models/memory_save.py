from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.metadata import Metadata


T = TypeVar("T", bound="MemorySave")


@_attrs_define
class MemorySave:
    """
    Attributes:
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        content (str): at most 65536 bytes of UTF-8, not white space alone
        container_tag (str | Unset): 1-128 characters of A-Z a-z 0-9 . _ : -
        metadata (Metadata | Unset): At most 32 keys and 40960 bytes. Keys have 1-128 characters and don't start with $.
            Values are strings, numbers, booleans and arrays of at most 1000 strings.
        occurred_at (datetime.datetime | None | Unset): what created_at shows, in place of the time of saving
    """

    end_user_id: str
    content: str
    container_tag: str | Unset = UNSET
    metadata: Metadata | Unset = UNSET
    occurred_at: datetime.datetime | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        end_user_id = self.end_user_id

        content = self.content

        container_tag = self.container_tag

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        occurred_at: None | str | Unset
        if isinstance(self.occurred_at, Unset):
            occurred_at = UNSET
        elif isinstance(self.occurred_at, datetime.datetime):
            occurred_at = self.occurred_at.isoformat()
        else:
            occurred_at = self.occurred_at

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "endUserId": end_user_id,
                "content": content,
            }
        )
        if container_tag is not UNSET:
            field_dict["containerTag"] = container_tag
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if occurred_at is not UNSET:
            field_dict["occurredAt"] = occurred_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.metadata import Metadata

        d = dict(src_dict)
        end_user_id = d.pop("endUserId")

        content = d.pop("content")

        container_tag = d.pop("containerTag", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: Metadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = Metadata.from_dict(_metadata)

        def _parse_occurred_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                occurred_at_type_0 = datetime.datetime.fromisoformat(data)

                return occurred_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        occurred_at = _parse_occurred_at(d.pop("occurredAt", UNSET))

        memory_save = cls(
            end_user_id=end_user_id,
            content=content,
            container_tag=container_tag,
            metadata=metadata,
            occurred_at=occurred_at,
        )

        return memory_save
