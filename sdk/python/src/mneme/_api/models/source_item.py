from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.source_item_status import SourceItemStatus, check_source_item_status

if TYPE_CHECKING:
    from ..models.source_reason import SourceReason


T = TypeVar("T", bound="SourceItem")


@_attrs_define
class SourceItem:
    """
    Attributes:
        key (str): names it in its source
        name (str):
        url (None | str):
        version (str): under which it was read
        status (SourceItemStatus):
        error (None | SourceReason): of a failed one
        attempts (int): that have failed in a row
        next_attempt_at (datetime.datetime | None): of a failed one; null: it is tried again when it has changed, or on
            demand
        document_id (None | str): its first document; null: it has none
        documents (int):
        updated_at (datetime.datetime):
    """

    key: str
    name: str
    url: None | str
    version: str
    status: SourceItemStatus
    error: None | SourceReason
    attempts: int
    next_attempt_at: datetime.datetime | None
    document_id: None | str
    documents: int
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.source_reason import SourceReason

        key = self.key

        name = self.name

        url: None | str
        url = self.url

        version = self.version

        status: str = self.status

        error: dict[str, Any] | None
        if isinstance(self.error, SourceReason):
            error = self.error.to_dict()
        else:
            error = self.error

        attempts = self.attempts

        next_attempt_at: None | str
        if isinstance(self.next_attempt_at, datetime.datetime):
            next_attempt_at = self.next_attempt_at.isoformat()
        else:
            next_attempt_at = self.next_attempt_at

        document_id: None | str
        document_id = self.document_id

        documents = self.documents

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "key": key,
                "name": name,
                "url": url,
                "version": version,
                "status": status,
                "error": error,
                "attempts": attempts,
                "next_attempt_at": next_attempt_at,
                "document_id": document_id,
                "documents": documents,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.source_reason import SourceReason

        d = dict(src_dict)
        key = d.pop("key")

        name = d.pop("name")

        def _parse_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        url = _parse_url(d.pop("url"))

        version = d.pop("version")

        status = check_source_item_status(d.pop("status"))

        def _parse_error(data: object) -> None | SourceReason:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = SourceReason.from_dict(data)

                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SourceReason, data)

        error = _parse_error(d.pop("error"))

        attempts = d.pop("attempts")

        def _parse_next_attempt_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_attempt_at_type_0 = datetime.datetime.fromisoformat(data)

                return next_attempt_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        next_attempt_at = _parse_next_attempt_at(d.pop("next_attempt_at"))

        def _parse_document_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        document_id = _parse_document_id(d.pop("document_id"))

        documents = d.pop("documents")

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        source_item = cls(
            key=key,
            name=name,
            url=url,
            version=version,
            status=status,
            error=error,
            attempts=attempts,
            next_attempt_at=next_attempt_at,
            document_id=document_id,
            documents=documents,
            updated_at=updated_at,
        )

        source_item.additional_properties = d
        return source_item

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
