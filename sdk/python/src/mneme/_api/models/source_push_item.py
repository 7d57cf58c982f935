from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.metadata import Metadata


T = TypeVar("T", bound="SourcePushItem")


@_attrs_define
class SourcePushItem:
    """
    Attributes:
        key (str): names it in its source for ever
        deleted (bool | Unset): the source no longer has it; nothing else is given then; default: false
        version (str | Unset): equal while it is unchanged; left out: it is compared by its content
        name (str | Unset): for people; the documents' title unless metadata has one
        url (str | Unset): where people find it; becomes metadata
        modified_at (datetime.datetime | None | Unset): becomes metadata
        text (None | str | Unset): what is above 256 KB becomes several documents
        metadata (Metadata | Unset): At most 32 keys and 40960 bytes. Keys have 1-128 characters and don't start with $.
            Values are strings, numbers, booleans and arrays of at most 1000 strings.
    """

    key: str
    deleted: bool | Unset = UNSET
    version: str | Unset = UNSET
    name: str | Unset = UNSET
    url: str | Unset = UNSET
    modified_at: datetime.datetime | None | Unset = UNSET
    text: None | str | Unset = UNSET
    metadata: Metadata | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        deleted = self.deleted

        version = self.version

        name = self.name

        url = self.url

        modified_at: None | str | Unset
        if isinstance(self.modified_at, Unset):
            modified_at = UNSET
        elif isinstance(self.modified_at, datetime.datetime):
            modified_at = self.modified_at.isoformat()
        else:
            modified_at = self.modified_at

        text: None | str | Unset
        if isinstance(self.text, Unset):
            text = UNSET
        else:
            text = self.text

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
            }
        )
        if deleted is not UNSET:
            field_dict["deleted"] = deleted
        if version is not UNSET:
            field_dict["version"] = version
        if name is not UNSET:
            field_dict["name"] = name
        if url is not UNSET:
            field_dict["url"] = url
        if modified_at is not UNSET:
            field_dict["modified_at"] = modified_at
        if text is not UNSET:
            field_dict["text"] = text
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.metadata import Metadata

        d = dict(src_dict)
        key = d.pop("key")

        deleted = d.pop("deleted", UNSET)

        version = d.pop("version", UNSET)

        name = d.pop("name", UNSET)

        url = d.pop("url", UNSET)

        def _parse_modified_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                modified_at_type_0 = datetime.datetime.fromisoformat(data)

                return modified_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        modified_at = _parse_modified_at(d.pop("modified_at", UNSET))

        def _parse_text(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        text = _parse_text(d.pop("text", UNSET))

        _metadata = d.pop("metadata", UNSET)
        metadata: Metadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = Metadata.from_dict(_metadata)

        source_push_item = cls(
            key=key,
            deleted=deleted,
            version=version,
            name=name,
            url=url,
            modified_at=modified_at,
            text=text,
            metadata=metadata,
        )

        return source_push_item
