from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.dataset_partition_space import (
    DatasetPartitionSpace,
    check_dataset_partition_space,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="DatasetPartition")


@_attrs_define
class DatasetPartition:
    """
    Attributes:
        organization (str):
        space (DatasetPartitionSpace):
        name (str): of the namespace, or the end user's id
        integration (str | Unset):
    """

    organization: str
    space: DatasetPartitionSpace
    name: str
    integration: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        organization = self.organization

        space: str = self.space

        name = self.name

        integration = self.integration

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "organization": organization,
                "space": space,
                "name": name,
            }
        )
        if integration is not UNSET:
            field_dict["integration"] = integration

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        organization = d.pop("organization")

        space = check_dataset_partition_space(d.pop("space"))

        name = d.pop("name")

        integration = d.pop("integration", UNSET)

        dataset_partition = cls(
            organization=organization,
            space=space,
            name=name,
            integration=integration,
        )

        dataset_partition.additional_properties = d
        return dataset_partition

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
