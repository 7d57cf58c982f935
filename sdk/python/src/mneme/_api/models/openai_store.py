from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.openai_store_object import OpenaiStoreObject, check_openai_store_object
from ..models.openai_store_status import OpenaiStoreStatus, check_openai_store_status

if TYPE_CHECKING:
    from ..models.openai_file_counts import OpenaiFileCounts


T = TypeVar("T", bound="OpenaiStore")


@_attrs_define
class OpenaiStore:
    """
    Attributes:
        id (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        object_ (OpenaiStoreObject):
        name (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        status (OpenaiStoreStatus): what is stored can be found
        created_at (int): Unix seconds
        last_active_at (int): Unix seconds of the last change of a document
        usage_bytes (int): of the documents' texts
        file_counts (OpenaiFileCounts):
    """

    id: str
    object_: OpenaiStoreObject
    name: str
    status: OpenaiStoreStatus
    created_at: int
    last_active_at: int
    usage_bytes: int
    file_counts: OpenaiFileCounts
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_: str = self.object_

        name = self.name

        status: str = self.status

        created_at = self.created_at

        last_active_at = self.last_active_at

        usage_bytes = self.usage_bytes

        file_counts = self.file_counts.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "name": name,
                "status": status,
                "created_at": created_at,
                "last_active_at": last_active_at,
                "usage_bytes": usage_bytes,
                "file_counts": file_counts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.openai_file_counts import OpenaiFileCounts

        d = dict(src_dict)
        id = d.pop("id")

        object_ = check_openai_store_object(d.pop("object"))

        name = d.pop("name")

        status = check_openai_store_status(d.pop("status"))

        created_at = d.pop("created_at")

        last_active_at = d.pop("last_active_at")

        usage_bytes = d.pop("usage_bytes")

        file_counts = OpenaiFileCounts.from_dict(d.pop("file_counts"))

        openai_store = cls(
            id=id,
            object_=object_,
            name=name,
            status=status,
            created_at=created_at,
            last_active_at=last_active_at,
            usage_bytes=usage_bytes,
            file_counts=file_counts,
        )

        openai_store.additional_properties = d
        return openai_store

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
