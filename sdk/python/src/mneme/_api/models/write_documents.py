from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.document_input import DocumentInput


T = TypeVar("T", bound="WriteDocuments")


@_attrs_define
class WriteDocuments:
    """
    Attributes:
        documents (list[DocumentInput]): documents to write, each id once
        expect_sparse (bool | None | Unset): 409 when the namespace has another index than this says
    """

    documents: list[DocumentInput]
    expect_sparse: bool | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        documents = []
        for documents_item_data in self.documents:
            documents_item = documents_item_data.to_dict()
            documents.append(documents_item)

        expect_sparse: bool | None | Unset
        if isinstance(self.expect_sparse, Unset):
            expect_sparse = UNSET
        else:
            expect_sparse = self.expect_sparse

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "documents": documents,
            }
        )
        if expect_sparse is not UNSET:
            field_dict["expect_sparse"] = expect_sparse

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.document_input import DocumentInput

        d = dict(src_dict)
        documents = []
        _documents = d.pop("documents")
        for documents_item_data in _documents:
            documents_item = DocumentInput.from_dict(documents_item_data)

            documents.append(documents_item)

        def _parse_expect_sparse(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        expect_sparse = _parse_expect_sparse(d.pop("expect_sparse", UNSET))

        write_documents = cls(
            documents=documents,
            expect_sparse=expect_sparse,
        )

        return write_documents
