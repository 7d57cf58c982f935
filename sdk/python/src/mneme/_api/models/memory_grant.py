from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.memory_grant_upstream import (
    MemoryGrantUpstream,
    check_memory_grant_upstream,
)

T = TypeVar("T", bound="MemoryGrant")


@_attrs_define
class MemoryGrant:
    """
    Attributes:
        id (str): for the header X-Mneme-Grant
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        source (str): 1-128 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        secrets_set (list[str]): names of the secrets that it was made with; their values are never answered
        created_at (datetime.datetime):
        revoked_at (datetime.datetime | None): null: it is live
        upstream (MemoryGrantUpstream): of a revoked grant that has secrets: whether its upstream has taken it back;
            else null
    """

    id: str
    end_user_id: str
    source: str
    secrets_set: list[str]
    created_at: datetime.datetime
    revoked_at: datetime.datetime | None
    upstream: MemoryGrantUpstream
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        end_user_id = self.end_user_id

        source = self.source

        secrets_set = self.secrets_set

        created_at = self.created_at.isoformat()

        revoked_at: None | str
        if isinstance(self.revoked_at, datetime.datetime):
            revoked_at = self.revoked_at.isoformat()
        else:
            revoked_at = self.revoked_at

        upstream: str = self.upstream

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "endUserId": end_user_id,
                "source": source,
                "secretsSet": secrets_set,
                "createdAt": created_at,
                "revokedAt": revoked_at,
                "upstream": upstream,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        end_user_id = d.pop("endUserId")

        source = d.pop("source")

        secrets_set = cast(list[str], d.pop("secretsSet"))

        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        def _parse_revoked_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                revoked_at_type_0 = datetime.datetime.fromisoformat(data)

                return revoked_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        revoked_at = _parse_revoked_at(d.pop("revokedAt"))

        upstream = check_memory_grant_upstream(d.pop("upstream"))

        memory_grant = cls(
            id=id,
            end_user_id=end_user_id,
            source=source,
            secrets_set=secrets_set,
            created_at=created_at,
            revoked_at=revoked_at,
            upstream=upstream,
        )

        memory_grant.additional_properties = d
        return memory_grant

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
