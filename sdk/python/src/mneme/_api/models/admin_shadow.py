from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.admin_shadow_state import AdminShadowState, check_admin_shadow_state

T = TypeVar("T", bound="AdminShadow")


@_attrs_define
class AdminShadow:
    """
    Attributes:
        state (AdminShadowState): building: being made, or held; kept: what was served before the last swap
        embedding_model (str): model of its vectors
        documents (int):
        chunks (int):
    """

    state: AdminShadowState
    embedding_model: str
    documents: int
    chunks: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        state: str = self.state

        embedding_model = self.embedding_model

        documents = self.documents

        chunks = self.chunks

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "state": state,
                "embedding_model": embedding_model,
                "documents": documents,
                "chunks": chunks,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        state = check_admin_shadow_state(d.pop("state"))

        embedding_model = d.pop("embedding_model")

        documents = d.pop("documents")

        chunks = d.pop("chunks")

        admin_shadow = cls(
            state=state,
            embedding_model=embedding_model,
            documents=documents,
            chunks=chunks,
        )

        admin_shadow.additional_properties = d
        return admin_shadow

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
