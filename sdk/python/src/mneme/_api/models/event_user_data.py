from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="EventUserData")


@_attrs_define
class EventUserData:
    """
    Attributes:
        organization_id (str):
        integration_id (str):
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        deleted_memories (int):
        deleted_vectors (int):
    """

    organization_id: str
    integration_id: str
    end_user_id: str
    deleted_memories: int
    deleted_vectors: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        organization_id = self.organization_id

        integration_id = self.integration_id

        end_user_id = self.end_user_id

        deleted_memories = self.deleted_memories

        deleted_vectors = self.deleted_vectors

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "organization_id": organization_id,
                "integration_id": integration_id,
                "endUserId": end_user_id,
                "deletedMemories": deleted_memories,
                "deletedVectors": deleted_vectors,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        organization_id = d.pop("organization_id")

        integration_id = d.pop("integration_id")

        end_user_id = d.pop("endUserId")

        deleted_memories = d.pop("deletedMemories")

        deleted_vectors = d.pop("deletedVectors")

        event_user_data = cls(
            organization_id=organization_id,
            integration_id=integration_id,
            end_user_id=end_user_id,
            deleted_memories=deleted_memories,
            deleted_vectors=deleted_vectors,
        )

        event_user_data.additional_properties = d
        return event_user_data

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
