from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="MemoryErasedUser")


@_attrs_define
class MemoryErasedUser:
    """
    Attributes:
        success (bool):
        deleted_memories (int): memories removed
        deleted_vectors (int): vectors removed, dense and sparse
        revoked_grants (int): grants removed, which were revoked first
        unanswered_upstreams (int): of these, those that their upstream did not take back in time
    """

    success: bool
    deleted_memories: int
    deleted_vectors: int
    revoked_grants: int
    unanswered_upstreams: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        success = self.success

        deleted_memories = self.deleted_memories

        deleted_vectors = self.deleted_vectors

        revoked_grants = self.revoked_grants

        unanswered_upstreams = self.unanswered_upstreams

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "success": success,
                "deletedMemories": deleted_memories,
                "deletedVectors": deleted_vectors,
                "revokedGrants": revoked_grants,
                "unansweredUpstreams": unanswered_upstreams,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        success = d.pop("success")

        deleted_memories = d.pop("deletedMemories")

        deleted_vectors = d.pop("deletedVectors")

        revoked_grants = d.pop("revokedGrants")

        unanswered_upstreams = d.pop("unansweredUpstreams")

        memory_erased_user = cls(
            success=success,
            deleted_memories=deleted_memories,
            deleted_vectors=deleted_vectors,
            revoked_grants=revoked_grants,
            unanswered_upstreams=unanswered_upstreams,
        )

        memory_erased_user.additional_properties = d
        return memory_erased_user

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
