from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AdminDeleted")


@_attrs_define
class AdminDeleted:
    """
    Attributes:
        memories (int):
        vectors (int):
        records (int):
        receipts (int):
        replays (int): stored answers to calls with an Idempotency-Key
    """

    memories: int
    vectors: int
    records: int
    receipts: int
    replays: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        memories = self.memories

        vectors = self.vectors

        records = self.records

        receipts = self.receipts

        replays = self.replays

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "memories": memories,
                "vectors": vectors,
                "records": records,
                "receipts": receipts,
                "replays": replays,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        memories = d.pop("memories")

        vectors = d.pop("vectors")

        records = d.pop("records")

        receipts = d.pop("receipts")

        replays = d.pop("replays")

        admin_deleted = cls(
            memories=memories,
            vectors=vectors,
            records=records,
            receipts=receipts,
            replays=replays,
        )

        admin_deleted.additional_properties = d
        return admin_deleted

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
