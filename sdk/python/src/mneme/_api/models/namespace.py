from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.namespace_language import NamespaceLanguage, check_namespace_language

T = TypeVar("T", bound="Namespace")


@_attrs_define
class Namespace:
    """
    Attributes:
        name (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        sparse (bool): whether it has a learned-sparse index
        language (NamespaceLanguage): that keyword search takes its texts for; auto: each chunk and query tells its own
        documents (int):
        chunks (int):
        bytes_ (int): UTF-8 bytes of the documents' texts
        embedding_model (str): model of its vectors
        embedding_digest (str): identity of that model
        embedding_model_chosen (bool): whether that model was chosen for it; false: it has the server's default
        sparse_model (None | str): model of its sparse vectors; null: it has none
        created_at (datetime.datetime):
        updated_at (datetime.datetime): of the last change of a document
    """

    name: str
    sparse: bool
    language: NamespaceLanguage
    documents: int
    chunks: int
    bytes_: int
    embedding_model: str
    embedding_digest: str
    embedding_model_chosen: bool
    sparse_model: None | str
    created_at: datetime.datetime
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        sparse = self.sparse

        language: str = self.language

        documents = self.documents

        chunks = self.chunks

        bytes_ = self.bytes_

        embedding_model = self.embedding_model

        embedding_digest = self.embedding_digest

        embedding_model_chosen = self.embedding_model_chosen

        sparse_model: None | str
        sparse_model = self.sparse_model

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "sparse": sparse,
                "language": language,
                "documents": documents,
                "chunks": chunks,
                "bytes": bytes_,
                "embedding_model": embedding_model,
                "embedding_digest": embedding_digest,
                "embedding_model_chosen": embedding_model_chosen,
                "sparse_model": sparse_model,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        sparse = d.pop("sparse")

        language = check_namespace_language(d.pop("language"))

        documents = d.pop("documents")

        chunks = d.pop("chunks")

        bytes_ = d.pop("bytes")

        embedding_model = d.pop("embedding_model")

        embedding_digest = d.pop("embedding_digest")

        embedding_model_chosen = d.pop("embedding_model_chosen")

        def _parse_sparse_model(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        sparse_model = _parse_sparse_model(d.pop("sparse_model"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        namespace = cls(
            name=name,
            sparse=sparse,
            language=language,
            documents=documents,
            chunks=chunks,
            bytes_=bytes_,
            embedding_model=embedding_model,
            embedding_digest=embedding_digest,
            embedding_model_chosen=embedding_model_chosen,
            sparse_model=sparse_model,
            created_at=created_at,
            updated_at=updated_at,
        )

        namespace.additional_properties = d
        return namespace

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
