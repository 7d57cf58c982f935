from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.source_pushed_item_status import (
    SourcePushedItemStatus,
    check_source_pushed_item_status,
)

if TYPE_CHECKING:
    from ..models.source_reason import SourceReason


T = TypeVar("T", bound="SourcePushedItem")


@_attrs_define
class SourcePushedItem:
    """
    Attributes:
        key (str):
        status (SourcePushedItemStatus): deleted: it is not there any more, whether or not it was
        error (None | SourceReason): of a failed one
        document_id (None | str): its first document; null: it has none
        documents (int):
    """

    key: str
    status: SourcePushedItemStatus
    error: None | SourceReason
    document_id: None | str
    documents: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.source_reason import SourceReason

        key = self.key

        status: str = self.status

        error: dict[str, Any] | None
        if isinstance(self.error, SourceReason):
            error = self.error.to_dict()
        else:
            error = self.error

        document_id: None | str
        document_id = self.document_id

        documents = self.documents

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "key": key,
                "status": status,
                "error": error,
                "document_id": document_id,
                "documents": documents,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.source_reason import SourceReason

        d = dict(src_dict)
        key = d.pop("key")

        status = check_source_pushed_item_status(d.pop("status"))

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

        def _parse_document_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        document_id = _parse_document_id(d.pop("document_id"))

        documents = d.pop("documents")

        source_pushed_item = cls(
            key=key,
            status=status,
            error=error,
            document_id=document_id,
            documents=documents,
        )

        source_pushed_item.additional_properties = d
        return source_pushed_item

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
