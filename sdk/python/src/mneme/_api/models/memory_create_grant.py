from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.memory_create_grant_secrets import MemoryCreateGrantSecrets


T = TypeVar("T", bound="MemoryCreateGrant")


@_attrs_define
class MemoryCreateGrant:
    """
    Attributes:
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        source (str): 1-128 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        secrets (MemoryCreateGrantSecrets | Unset): with which the kind of source of that name gives the grant back
            upstream; written, never read back
    """

    end_user_id: str
    source: str
    secrets: MemoryCreateGrantSecrets | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        end_user_id = self.end_user_id

        source = self.source

        secrets: dict[str, Any] | Unset = UNSET
        if not isinstance(self.secrets, Unset):
            secrets = self.secrets.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "endUserId": end_user_id,
                "source": source,
            }
        )
        if secrets is not UNSET:
            field_dict["secrets"] = secrets

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.memory_create_grant_secrets import MemoryCreateGrantSecrets

        d = dict(src_dict)
        end_user_id = d.pop("endUserId")

        source = d.pop("source")

        _secrets = d.pop("secrets", UNSET)
        secrets: MemoryCreateGrantSecrets | Unset
        if isinstance(_secrets, Unset):
            secrets = UNSET
        else:
            secrets = MemoryCreateGrantSecrets.from_dict(_secrets)

        memory_create_grant = cls(
            end_user_id=end_user_id,
            source=source,
            secrets=secrets,
        )

        return memory_create_grant
