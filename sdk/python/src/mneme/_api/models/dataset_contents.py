from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="DatasetContents")


@_attrs_define
class DatasetContents:
    """
    Attributes:
        memories (bool): with end users and their memories
        vectors (bool): with chunk layouts and vectors
        keys (bool): with API keys, as hashes, and accepted writes that are not done yet
        secrets (bool): with what signs cursors and OAuth sessions
        organization (str | Unset): name or id; absent: all
        namespaces (list[str] | Unset): absent: all
    """

    memories: bool
    vectors: bool
    keys: bool
    secrets: bool
    organization: str | Unset = UNSET
    namespaces: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        memories = self.memories

        vectors = self.vectors

        keys = self.keys

        secrets = self.secrets

        organization = self.organization

        namespaces: list[str] | Unset = UNSET
        if not isinstance(self.namespaces, Unset):
            namespaces = self.namespaces

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "memories": memories,
                "vectors": vectors,
                "keys": keys,
                "secrets": secrets,
            }
        )
        if organization is not UNSET:
            field_dict["organization"] = organization
        if namespaces is not UNSET:
            field_dict["namespaces"] = namespaces

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        memories = d.pop("memories")

        vectors = d.pop("vectors")

        keys = d.pop("keys")

        secrets = d.pop("secrets")

        organization = d.pop("organization", UNSET)

        namespaces = cast(list[str], d.pop("namespaces", UNSET))

        dataset_contents = cls(
            memories=memories,
            vectors=vectors,
            keys=keys,
            secrets=secrets,
            organization=organization,
            namespaces=namespaces,
        )

        dataset_contents.additional_properties = d
        return dataset_contents

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
