from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.metadata import Metadata


T = TypeVar("T", bound="MemoryUpsert")


@_attrs_define
class MemoryUpsert:
    """
    Attributes:
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        source (str): 1-128 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        version (int): chosen by the source system; only higher ones are applied
        content (str): at most 65536 bytes of UTF-8, not white space alone
        occurred_at (datetime.datetime): the source's time of this version
        container_tag (str | Unset): 1-128 characters of A-Z a-z 0-9 . _ : -
        metadata (Metadata | Unset): At most 32 keys and 40960 bytes. Keys have 1-128 characters and don't start with $.
            Values are strings, numbers, booleans and arrays of at most 1000 strings.
    """

    end_user_id: str
    source: str
    version: int
    content: str
    occurred_at: datetime.datetime
    container_tag: str | Unset = UNSET
    metadata: Metadata | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        end_user_id = self.end_user_id

        source = self.source

        version = self.version

        content = self.content

        occurred_at = self.occurred_at.isoformat()

        container_tag = self.container_tag

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "endUserId": end_user_id,
                "source": source,
                "version": version,
                "content": content,
                "occurredAt": occurred_at,
            }
        )
        if container_tag is not UNSET:
            field_dict["containerTag"] = container_tag
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.metadata import Metadata

        d = dict(src_dict)
        end_user_id = d.pop("endUserId")

        source = d.pop("source")

        version = d.pop("version")

        content = d.pop("content")

        occurred_at = datetime.datetime.fromisoformat(d.pop("occurredAt"))

        container_tag = d.pop("containerTag", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: Metadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = Metadata.from_dict(_metadata)

        memory_upsert = cls(
            end_user_id=end_user_id,
            source=source,
            version=version,
            content=content,
            occurred_at=occurred_at,
            container_tag=container_tag,
            metadata=metadata,
        )

        return memory_upsert
