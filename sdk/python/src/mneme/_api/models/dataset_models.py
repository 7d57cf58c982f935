from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="DatasetModels")


@_attrs_define
class DatasetModels:
    """
    Attributes:
        embedding_model (str | Unset):
        embedding_digest (str | Unset):
        dimensions (int | Unset):
        sparse_model (str | Unset):
        sparse_digest (str | Unset):
        chunker (str | Unset):
    """

    embedding_model: str | Unset = UNSET
    embedding_digest: str | Unset = UNSET
    dimensions: int | Unset = UNSET
    sparse_model: str | Unset = UNSET
    sparse_digest: str | Unset = UNSET
    chunker: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        embedding_model = self.embedding_model

        embedding_digest = self.embedding_digest

        dimensions = self.dimensions

        sparse_model = self.sparse_model

        sparse_digest = self.sparse_digest

        chunker = self.chunker

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if embedding_model is not UNSET:
            field_dict["embedding_model"] = embedding_model
        if embedding_digest is not UNSET:
            field_dict["embedding_digest"] = embedding_digest
        if dimensions is not UNSET:
            field_dict["dimensions"] = dimensions
        if sparse_model is not UNSET:
            field_dict["sparse_model"] = sparse_model
        if sparse_digest is not UNSET:
            field_dict["sparse_digest"] = sparse_digest
        if chunker is not UNSET:
            field_dict["chunker"] = chunker

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        embedding_model = d.pop("embedding_model", UNSET)

        embedding_digest = d.pop("embedding_digest", UNSET)

        dimensions = d.pop("dimensions", UNSET)

        sparse_model = d.pop("sparse_model", UNSET)

        sparse_digest = d.pop("sparse_digest", UNSET)

        chunker = d.pop("chunker", UNSET)

        dataset_models = cls(
            embedding_model=embedding_model,
            embedding_digest=embedding_digest,
            dimensions=dimensions,
            sparse_model=sparse_model,
            sparse_digest=sparse_digest,
            chunker=chunker,
        )

        dataset_models.additional_properties = d
        return dataset_models

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
