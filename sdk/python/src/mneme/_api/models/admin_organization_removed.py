from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AdminOrganizationRemoved")


@_attrs_define
class AdminOrganizationRemoved:
    """
    Attributes:
        namespaces (int):
        documents (int):
        end_users (int):
        memories (int):
        integrations (int):
        keys (int):
        jobs (int): records of background work
    """

    namespaces: int
    documents: int
    end_users: int
    memories: int
    integrations: int
    keys: int
    jobs: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        namespaces = self.namespaces

        documents = self.documents

        end_users = self.end_users

        memories = self.memories

        integrations = self.integrations

        keys = self.keys

        jobs = self.jobs

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "namespaces": namespaces,
                "documents": documents,
                "end_users": end_users,
                "memories": memories,
                "integrations": integrations,
                "keys": keys,
                "jobs": jobs,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        namespaces = d.pop("namespaces")

        documents = d.pop("documents")

        end_users = d.pop("end_users")

        memories = d.pop("memories")

        integrations = d.pop("integrations")

        keys = d.pop("keys")

        jobs = d.pop("jobs")

        admin_organization_removed = cls(
            namespaces=namespaces,
            documents=documents,
            end_users=end_users,
            memories=memories,
            integrations=integrations,
            keys=keys,
            jobs=jobs,
        )

        admin_organization_removed.additional_properties = d
        return admin_organization_removed

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
