from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.memory_backends import MemoryBackends
    from ..models.memory_integration import MemoryIntegration


T = TypeVar("T", bound="MemoryStatus")


@_attrs_define
class MemoryStatus:
    """
    Attributes:
        ok (bool): whether the memory API works
        api_version (datetime.date): version of the memory API
        request_id (str): as in the header X-Request-Id
        integration (MemoryIntegration):
        backends (MemoryBackends):
    """

    ok: bool
    api_version: datetime.date
    request_id: str
    integration: MemoryIntegration
    backends: MemoryBackends
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ok = self.ok

        api_version = self.api_version.isoformat()

        request_id = self.request_id

        integration = self.integration.to_dict()

        backends = self.backends.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ok": ok,
                "apiVersion": api_version,
                "requestId": request_id,
                "integration": integration,
                "backends": backends,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.memory_backends import MemoryBackends
        from ..models.memory_integration import MemoryIntegration

        d = dict(src_dict)
        ok = d.pop("ok")

        api_version = datetime.date.fromisoformat(d.pop("apiVersion"))

        request_id = d.pop("requestId")

        integration = MemoryIntegration.from_dict(d.pop("integration"))

        backends = MemoryBackends.from_dict(d.pop("backends"))

        memory_status = cls(
            ok=ok,
            api_version=api_version,
            request_id=request_id,
            integration=integration,
            backends=backends,
        )

        memory_status.additional_properties = d
        return memory_status

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
