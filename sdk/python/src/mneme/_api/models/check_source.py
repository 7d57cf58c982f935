from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.check_source_secrets import CheckSourceSecrets


T = TypeVar("T", bound="CheckSource")


@_attrs_define
class CheckSource:
    """
    Attributes:
        kind (str): as in GET /source_kinds
        config (Any | Unset): settings, an object as the kind's schema wants it
        secrets (CheckSourceSecrets | Unset): as the kind's schema wants them
        source_id (str | Unset): source whose secrets are used where none are given
    """

    kind: str
    config: Any | Unset = UNSET
    secrets: CheckSourceSecrets | Unset = UNSET
    source_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        config = self.config

        secrets: dict[str, Any] | Unset = UNSET
        if not isinstance(self.secrets, Unset):
            secrets = self.secrets.to_dict()

        source_id = self.source_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
            }
        )
        if config is not UNSET:
            field_dict["config"] = config
        if secrets is not UNSET:
            field_dict["secrets"] = secrets
        if source_id is not UNSET:
            field_dict["source_id"] = source_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.check_source_secrets import CheckSourceSecrets

        d = dict(src_dict)
        kind = d.pop("kind")

        config = d.pop("config", UNSET)

        _secrets = d.pop("secrets", UNSET)
        secrets: CheckSourceSecrets | Unset
        if isinstance(_secrets, Unset):
            secrets = UNSET
        else:
            secrets = CheckSourceSecrets.from_dict(_secrets)

        source_id = d.pop("source_id", UNSET)

        check_source = cls(
            kind=kind,
            config=config,
            secrets=secrets,
            source_id=source_id,
        )

        return check_source
