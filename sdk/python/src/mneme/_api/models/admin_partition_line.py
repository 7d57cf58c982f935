from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.admin_partition_line_type import (
    AdminPartitionLineType,
    check_admin_partition_line_type,
)

if TYPE_CHECKING:
    from ..models.dataset_partition import DatasetPartition


T = TypeVar("T", bound="AdminPartitionLine")


@_attrs_define
class AdminPartitionLine:
    """
    Attributes:
        type_ (AdminPartitionLineType):
        data (DatasetPartition):
        hash_ (str): SHA-256 of the type, a line feed and data as it is written; base64url without padding
        chain (str): SHA-256 of the line before's chain (32 zero bytes at first) and hash; base64url without padding.
            That of the last line is a hash over everything
    """

    type_: AdminPartitionLineType
    data: DatasetPartition
    hash_: str
    chain: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_: str = self.type_

        data = self.data.to_dict()

        hash_ = self.hash_

        chain = self.chain

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "data": data,
                "hash": hash_,
                "chain": chain,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.dataset_partition import DatasetPartition

        d = dict(src_dict)
        type_ = check_admin_partition_line_type(d.pop("type"))

        data = DatasetPartition.from_dict(d.pop("data"))

        hash_ = d.pop("hash")

        chain = d.pop("chain")

        admin_partition_line = cls(
            type_=type_,
            data=data,
            hash_=hash_,
            chain=chain,
        )

        admin_partition_line.additional_properties = d
        return admin_partition_line

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
