from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.file import File


T = TypeVar("T", bound="FileUploaded")


@_attrs_define
class FileUploaded:
    """
    Attributes:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        written (int): documents created or changed
        unchanged (int): documents that were stored already, as they are
        chunks (int): chunks of all documents of the call
        failed (int): files that could not be read
        files (list[File]): one for each file, in the order of the call
        searchable (bool | Unset): whether every index has the documents; false: one takes them in the background; not
            with dry_run
    """

    namespace: str
    written: int
    unchanged: int
    chunks: int
    failed: int
    files: list[File]
    searchable: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        namespace = self.namespace

        written = self.written

        unchanged = self.unchanged

        chunks = self.chunks

        failed = self.failed

        files = []
        for files_item_data in self.files:
            files_item = files_item_data.to_dict()
            files.append(files_item)

        searchable = self.searchable

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "namespace": namespace,
                "written": written,
                "unchanged": unchanged,
                "chunks": chunks,
                "failed": failed,
                "files": files,
            }
        )
        if searchable is not UNSET:
            field_dict["searchable"] = searchable

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.file import File

        d = dict(src_dict)
        namespace = d.pop("namespace")

        written = d.pop("written")

        unchanged = d.pop("unchanged")

        chunks = d.pop("chunks")

        failed = d.pop("failed")

        files = []
        _files = d.pop("files")
        for files_item_data in _files:
            files_item = File.from_dict(files_item_data)

            files.append(files_item)

        searchable = d.pop("searchable", UNSET)

        file_uploaded = cls(
            namespace=namespace,
            written=written,
            unchanged=unchanged,
            chunks=chunks,
            failed=failed,
            files=files,
            searchable=searchable,
        )

        file_uploaded.additional_properties = d
        return file_uploaded

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
