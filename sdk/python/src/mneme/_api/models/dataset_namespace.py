from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.dataset_models import DatasetModels


T = TypeVar("T", bound="DatasetNamespace")


@_attrs_define
class DatasetNamespace:
    """
    Attributes:
        sparse (bool): whether it has a learned-sparse index
        language (str | Unset): that keyword search takes its texts for; absent: each tells its own
        embedder (str | Unset): embedding model that was chosen for it; absent: the server's default
        models (DatasetModels | Unset):
        created_at (datetime.datetime | Unset):
        updated_at (datetime.datetime | Unset):
    """

    sparse: bool
    language: str | Unset = UNSET
    embedder: str | Unset = UNSET
    models: DatasetModels | Unset = UNSET
    created_at: datetime.datetime | Unset = UNSET
    updated_at: datetime.datetime | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        sparse = self.sparse

        language = self.language

        embedder = self.embedder

        models: dict[str, Any] | Unset = UNSET
        if not isinstance(self.models, Unset):
            models = self.models.to_dict()

        created_at: str | Unset = UNSET
        if not isinstance(self.created_at, Unset):
            created_at = self.created_at.isoformat()

        updated_at: str | Unset = UNSET
        if not isinstance(self.updated_at, Unset):
            updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "sparse": sparse,
            }
        )
        if language is not UNSET:
            field_dict["language"] = language
        if embedder is not UNSET:
            field_dict["embedder"] = embedder
        if models is not UNSET:
            field_dict["models"] = models
        if created_at is not UNSET:
            field_dict["created_at"] = created_at
        if updated_at is not UNSET:
            field_dict["updated_at"] = updated_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.dataset_models import DatasetModels

        d = dict(src_dict)
        sparse = d.pop("sparse")

        language = d.pop("language", UNSET)

        embedder = d.pop("embedder", UNSET)

        _models = d.pop("models", UNSET)
        models: DatasetModels | Unset
        if isinstance(_models, Unset):
            models = UNSET
        else:
            models = DatasetModels.from_dict(_models)

        _created_at = d.pop("created_at", UNSET)
        created_at: datetime.datetime | Unset
        if isinstance(_created_at, Unset):
            created_at = UNSET
        else:
            created_at = datetime.datetime.fromisoformat(_created_at)

        _updated_at = d.pop("updated_at", UNSET)
        updated_at: datetime.datetime | Unset
        if isinstance(_updated_at, Unset):
            updated_at = UNSET
        else:
            updated_at = datetime.datetime.fromisoformat(_updated_at)

        dataset_namespace = cls(
            sparse=sparse,
            language=language,
            embedder=embedder,
            models=models,
            created_at=created_at,
            updated_at=updated_at,
        )

        dataset_namespace.additional_properties = d
        return dataset_namespace

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
