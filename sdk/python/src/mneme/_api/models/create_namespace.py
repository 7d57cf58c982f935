from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.create_namespace_language import (
    CreateNamespaceLanguage,
    check_create_namespace_language,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="CreateNamespace")


@_attrs_define
class CreateNamespace:
    """
    Attributes:
        name (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        sparse (bool | Unset): whether the namespace has a learned-sparse index; default: false
        language (CreateNamespaceLanguage | Unset): language that keyword search takes its texts and queries for; auto:
            each chunk and query tells its own; default: auto
        embedding_model (str | Unset): embedding model of its own, by the id that GET /models?kind=embedding lists;
            empty: the server's default, also when that changes
    """

    name: str
    sparse: bool | Unset = UNSET
    language: CreateNamespaceLanguage | Unset = UNSET
    embedding_model: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        sparse = self.sparse

        language: str | Unset = UNSET
        if not isinstance(self.language, Unset):
            language = self.language

        embedding_model = self.embedding_model

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
            }
        )
        if sparse is not UNSET:
            field_dict["sparse"] = sparse
        if language is not UNSET:
            field_dict["language"] = language
        if embedding_model is not UNSET:
            field_dict["embedding_model"] = embedding_model

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        sparse = d.pop("sparse", UNSET)

        _language = d.pop("language", UNSET)
        language: CreateNamespaceLanguage | Unset
        if isinstance(_language, Unset):
            language = UNSET
        else:
            language = check_create_namespace_language(_language)

        embedding_model = d.pop("embedding_model", UNSET)

        create_namespace = cls(
            name=name,
            sparse=sparse,
            language=language,
            embedding_model=embedding_model,
        )

        return create_namespace
