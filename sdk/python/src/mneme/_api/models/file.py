from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.file_status import FileStatus, check_file_status
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.file_failure import FileFailure
    from ..models.file_outcome import FileOutcome


T = TypeVar("T", bound="File")


@_attrs_define
class File:
    """
    Attributes:
        name (str): as it was sent
        status (FileStatus): whether its text could be read
        content_hash (str): SHA-256 of its bytes; also metadata file_hash
        documents (list[FileOutcome]): what became of it, in their order
        error (FileFailure | Unset):
        media_type (str | Unset): what it is by its content
        title (str | Unset): that it gives itself
        pages (int | Unset): the last page or slide with text, of a file with pages
    """

    name: str
    status: FileStatus
    content_hash: str
    documents: list[FileOutcome]
    error: FileFailure | Unset = UNSET
    media_type: str | Unset = UNSET
    title: str | Unset = UNSET
    pages: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        status: str = self.status

        content_hash = self.content_hash

        documents = []
        for documents_item_data in self.documents:
            documents_item = documents_item_data.to_dict()
            documents.append(documents_item)

        error: dict[str, Any] | Unset = UNSET
        if not isinstance(self.error, Unset):
            error = self.error.to_dict()

        media_type = self.media_type

        title = self.title

        pages = self.pages

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "status": status,
                "content_hash": content_hash,
                "documents": documents,
            }
        )
        if error is not UNSET:
            field_dict["error"] = error
        if media_type is not UNSET:
            field_dict["media_type"] = media_type
        if title is not UNSET:
            field_dict["title"] = title
        if pages is not UNSET:
            field_dict["pages"] = pages

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.file_failure import FileFailure
        from ..models.file_outcome import FileOutcome

        d = dict(src_dict)
        name = d.pop("name")

        status = check_file_status(d.pop("status"))

        content_hash = d.pop("content_hash")

        documents = []
        _documents = d.pop("documents")
        for documents_item_data in _documents:
            documents_item = FileOutcome.from_dict(documents_item_data)

            documents.append(documents_item)

        _error = d.pop("error", UNSET)
        error: FileFailure | Unset
        if isinstance(_error, Unset):
            error = UNSET
        else:
            error = FileFailure.from_dict(_error)

        media_type = d.pop("media_type", UNSET)

        title = d.pop("title", UNSET)

        pages = d.pop("pages", UNSET)

        file = cls(
            name=name,
            status=status,
            content_hash=content_hash,
            documents=documents,
            error=error,
            media_type=media_type,
            title=title,
            pages=pages,
        )

        file.additional_properties = d
        return file

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
