from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.memory_error_details import MemoryErrorDetails


T = TypeVar("T", bound="MemoryError_")


@_attrs_define
class MemoryError_:
    """The error body of the memory API.

    Attributes:
        status_code (int): The HTTP status.
        code (str): What went wrong, for programs. New codes may come.
        message (str): What went wrong, for people.
        request_id (str): As in the header X-Request-Id.
        details (MemoryErrorDetails): More for programs: field and reason of a 400, scope of insufficient_scope, quota,
            limit and used of quota_exceeded, retryAfter of a 429, currentVersion of a version conflict.
    """

    status_code: int
    code: str
    message: str
    request_id: str
    details: MemoryErrorDetails
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        status_code = self.status_code

        code = self.code

        message = self.message

        request_id = self.request_id

        details = self.details.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "statusCode": status_code,
                "code": code,
                "message": message,
                "requestId": request_id,
                "details": details,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.memory_error_details import MemoryErrorDetails

        d = dict(src_dict)
        status_code = d.pop("statusCode")

        code = d.pop("code")

        message = d.pop("message")

        request_id = d.pop("requestId")

        details = MemoryErrorDetails.from_dict(d.pop("details"))

        memory_error = cls(
            status_code=status_code,
            code=code,
            message=message,
            request_id=request_id,
            details=details,
        )

        memory_error.additional_properties = d
        return memory_error

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
