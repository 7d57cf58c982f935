from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="UsageChangeQuotas")


@_attrs_define
class UsageChangeQuotas:
    """
    Attributes:
        bytes_ (int | None | Unset): UTF-8 bytes of the texts of documents and memories; 0: unlimited
        documents (int | None | Unset): documents of all namespaces; 0: unlimited
        namespaces (int | None | Unset): namespaces, empty ones too; 0: unlimited
        end_users (int | None | Unset): end users of all integrations; 0: unlimited
    """

    bytes_: int | None | Unset = UNSET
    documents: int | None | Unset = UNSET
    namespaces: int | None | Unset = UNSET
    end_users: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        bytes_: int | None | Unset
        if isinstance(self.bytes_, Unset):
            bytes_ = UNSET
        else:
            bytes_ = self.bytes_

        documents: int | None | Unset
        if isinstance(self.documents, Unset):
            documents = UNSET
        else:
            documents = self.documents

        namespaces: int | None | Unset
        if isinstance(self.namespaces, Unset):
            namespaces = UNSET
        else:
            namespaces = self.namespaces

        end_users: int | None | Unset
        if isinstance(self.end_users, Unset):
            end_users = UNSET
        else:
            end_users = self.end_users

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if bytes_ is not UNSET:
            field_dict["bytes"] = bytes_
        if documents is not UNSET:
            field_dict["documents"] = documents
        if namespaces is not UNSET:
            field_dict["namespaces"] = namespaces
        if end_users is not UNSET:
            field_dict["end_users"] = end_users

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_bytes_(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        bytes_ = _parse_bytes_(d.pop("bytes", UNSET))

        def _parse_documents(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        documents = _parse_documents(d.pop("documents", UNSET))

        def _parse_namespaces(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        namespaces = _parse_namespaces(d.pop("namespaces", UNSET))

        def _parse_end_users(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        end_users = _parse_end_users(d.pop("end_users", UNSET))

        usage_change_quotas = cls(
            bytes_=bytes_,
            documents=documents,
            namespaces=namespaces,
            end_users=end_users,
        )

        return usage_change_quotas
