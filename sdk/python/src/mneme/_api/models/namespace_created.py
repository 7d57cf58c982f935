from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.namespace_created_language import (
    NamespaceCreatedLanguage,
    check_namespace_created_language,
)

T = TypeVar("T", bound="NamespaceCreated")


@_attrs_define
class NamespaceCreated:
    """
    Attributes:
        name (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        sparse (bool):
        language (NamespaceCreatedLanguage):
        embedding_model (str): model that makes its vectors; empty: it is off
    """

    name: str
    sparse: bool
    language: NamespaceCreatedLanguage
    embedding_model: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        sparse = self.sparse

        language: str = self.language

        embedding_model = self.embedding_model

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "sparse": sparse,
                "language": language,
                "embedding_model": embedding_model,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        sparse = d.pop("sparse")

        language = check_namespace_created_language(d.pop("language"))

        embedding_model = d.pop("embedding_model")

        namespace_created = cls(
            name=name,
            sparse=sparse,
            language=language,
            embedding_model=embedding_model,
        )

        namespace_created.additional_properties = d
        return namespace_created

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
