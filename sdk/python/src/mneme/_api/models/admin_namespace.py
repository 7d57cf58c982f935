from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.admin_namespace_language import (
    AdminNamespaceLanguage,
    check_admin_namespace_language,
)

if TYPE_CHECKING:
    from ..models.admin_shadow import AdminShadow


T = TypeVar("T", bound="AdminNamespace")


@_attrs_define
class AdminNamespace:
    """
    Attributes:
        name (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        documents (int):
        chunks (int):
        sparse (bool): whether it has a learned-sparse index
        language (AdminNamespaceLanguage): that keyword search takes its texts for; auto: each chunk tells its own
        embedding_model (str): model of its vectors
        embedding_model_chosen (bool): whether that model was chosen for it; false: it has the server's default
        current (bool): false: its vectors are of other models than it is to have, the configured ones or the one that
            was chosen for it, and it is to be reindexed
        shadow (AdminShadow | None): what reindexing it has made or kept beside it; null: nothing
        updated_at (datetime.datetime):
    """

    name: str
    documents: int
    chunks: int
    sparse: bool
    language: AdminNamespaceLanguage
    embedding_model: str
    embedding_model_chosen: bool
    current: bool
    shadow: AdminShadow | None
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.admin_shadow import AdminShadow

        name = self.name

        documents = self.documents

        chunks = self.chunks

        sparse = self.sparse

        language: str = self.language

        embedding_model = self.embedding_model

        embedding_model_chosen = self.embedding_model_chosen

        current = self.current

        shadow: dict[str, Any] | None
        if isinstance(self.shadow, AdminShadow):
            shadow = self.shadow.to_dict()
        else:
            shadow = self.shadow

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "documents": documents,
                "chunks": chunks,
                "sparse": sparse,
                "language": language,
                "embedding_model": embedding_model,
                "embedding_model_chosen": embedding_model_chosen,
                "current": current,
                "shadow": shadow,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.admin_shadow import AdminShadow

        d = dict(src_dict)
        name = d.pop("name")

        documents = d.pop("documents")

        chunks = d.pop("chunks")

        sparse = d.pop("sparse")

        language = check_admin_namespace_language(d.pop("language"))

        embedding_model = d.pop("embedding_model")

        embedding_model_chosen = d.pop("embedding_model_chosen")

        current = d.pop("current")

        def _parse_shadow(data: object) -> AdminShadow | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                shadow_type_0 = AdminShadow.from_dict(data)

                return shadow_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AdminShadow | None, data)

        shadow = _parse_shadow(d.pop("shadow"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        admin_namespace = cls(
            name=name,
            documents=documents,
            chunks=chunks,
            sparse=sparse,
            language=language,
            embedding_model=embedding_model,
            embedding_model_chosen=embedding_model_chosen,
            current=current,
            shadow=shadow,
            updated_at=updated_at,
        )

        admin_namespace.additional_properties = d
        return admin_namespace

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
