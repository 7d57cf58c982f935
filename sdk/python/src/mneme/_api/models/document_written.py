from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.written_document import WrittenDocument


T = TypeVar("T", bound="DocumentWritten")


@_attrs_define
class DocumentWritten:
    """
    Attributes:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        sparse (bool): whether the namespace has a learned-sparse index
        written (int): documents created or changed
        unchanged (int): documents that were stored already, as they are
        chunks (int): chunks of all documents of the call
        documents (list[WrittenDocument]): one for each document, in the order of the call
        searchable (bool | Unset): whether every index has the documents; false: one takes them in the background; not
            in an operation's result
    """

    namespace: str
    sparse: bool
    written: int
    unchanged: int
    chunks: int
    documents: list[WrittenDocument]
    searchable: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        namespace = self.namespace

        sparse = self.sparse

        written = self.written

        unchanged = self.unchanged

        chunks = self.chunks

        documents = []
        for documents_item_data in self.documents:
            documents_item = documents_item_data.to_dict()
            documents.append(documents_item)

        searchable = self.searchable

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "namespace": namespace,
                "sparse": sparse,
                "written": written,
                "unchanged": unchanged,
                "chunks": chunks,
                "documents": documents,
            }
        )
        if searchable is not UNSET:
            field_dict["searchable"] = searchable

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.written_document import WrittenDocument

        d = dict(src_dict)
        namespace = d.pop("namespace")

        sparse = d.pop("sparse")

        written = d.pop("written")

        unchanged = d.pop("unchanged")

        chunks = d.pop("chunks")

        documents = []
        _documents = d.pop("documents")
        for documents_item_data in _documents:
            documents_item = WrittenDocument.from_dict(documents_item_data)

            documents.append(documents_item)

        searchable = d.pop("searchable", UNSET)

        document_written = cls(
            namespace=namespace,
            sparse=sparse,
            written=written,
            unchanged=unchanged,
            chunks=chunks,
            documents=documents,
            searchable=searchable,
        )

        document_written.additional_properties = d
        return document_written

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
