from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="DatasetCounts")


@_attrs_define
class DatasetCounts:
    """
    Attributes:
        organizations (int | Unset):
        integrations (int | Unset):
        keys (int | Unset):
        operations (int | Unset):
        namespaces (int | Unset):
        end_users (int | Unset):
        documents (int | Unset): memories among them
        chunks (int | Unset):
        bytes_ (int | Unset): UTF-8 bytes of texts
        links (int | Unset):
        records (int | Unset):
        receipts (int | Unset):
        replays (int | Unset):
        secrets (int | Unset):
    """

    organizations: int | Unset = UNSET
    integrations: int | Unset = UNSET
    keys: int | Unset = UNSET
    operations: int | Unset = UNSET
    namespaces: int | Unset = UNSET
    end_users: int | Unset = UNSET
    documents: int | Unset = UNSET
    chunks: int | Unset = UNSET
    bytes_: int | Unset = UNSET
    links: int | Unset = UNSET
    records: int | Unset = UNSET
    receipts: int | Unset = UNSET
    replays: int | Unset = UNSET
    secrets: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        organizations = self.organizations

        integrations = self.integrations

        keys = self.keys

        operations = self.operations

        namespaces = self.namespaces

        end_users = self.end_users

        documents = self.documents

        chunks = self.chunks

        bytes_ = self.bytes_

        links = self.links

        records = self.records

        receipts = self.receipts

        replays = self.replays

        secrets = self.secrets

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if organizations is not UNSET:
            field_dict["organizations"] = organizations
        if integrations is not UNSET:
            field_dict["integrations"] = integrations
        if keys is not UNSET:
            field_dict["keys"] = keys
        if operations is not UNSET:
            field_dict["operations"] = operations
        if namespaces is not UNSET:
            field_dict["namespaces"] = namespaces
        if end_users is not UNSET:
            field_dict["end_users"] = end_users
        if documents is not UNSET:
            field_dict["documents"] = documents
        if chunks is not UNSET:
            field_dict["chunks"] = chunks
        if bytes_ is not UNSET:
            field_dict["bytes"] = bytes_
        if links is not UNSET:
            field_dict["links"] = links
        if records is not UNSET:
            field_dict["records"] = records
        if receipts is not UNSET:
            field_dict["receipts"] = receipts
        if replays is not UNSET:
            field_dict["replays"] = replays
        if secrets is not UNSET:
            field_dict["secrets"] = secrets

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        organizations = d.pop("organizations", UNSET)

        integrations = d.pop("integrations", UNSET)

        keys = d.pop("keys", UNSET)

        operations = d.pop("operations", UNSET)

        namespaces = d.pop("namespaces", UNSET)

        end_users = d.pop("end_users", UNSET)

        documents = d.pop("documents", UNSET)

        chunks = d.pop("chunks", UNSET)

        bytes_ = d.pop("bytes", UNSET)

        links = d.pop("links", UNSET)

        records = d.pop("records", UNSET)

        receipts = d.pop("receipts", UNSET)

        replays = d.pop("replays", UNSET)

        secrets = d.pop("secrets", UNSET)

        dataset_counts = cls(
            organizations=organizations,
            integrations=integrations,
            keys=keys,
            operations=operations,
            namespaces=namespaces,
            end_users=end_users,
            documents=documents,
            chunks=chunks,
            bytes_=bytes_,
            links=links,
            records=records,
            receipts=receipts,
            replays=replays,
            secrets=secrets,
        )

        dataset_counts.additional_properties = d
        return dataset_counts

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
