from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.dataset_header_format import (
    DatasetHeaderFormat,
    check_dataset_header_format,
)
from ..models.dataset_header_version import (
    DatasetHeaderVersion,
    check_dataset_header_version,
)

if TYPE_CHECKING:
    from ..models.dataset_contents import DatasetContents
    from ..models.dataset_counts import DatasetCounts


T = TypeVar("T", bound="DatasetHeader")


@_attrs_define
class DatasetHeader:
    """
    Attributes:
        format_ (DatasetHeaderFormat):
        version (DatasetHeaderVersion):
        id (str): of the data set: set_ and 24 hexadecimal digits
        program (str): version that wrote it
        store (str): component that it was read from; empty when a server wrote it
        snapshot (str): partition: each namespace and each end user is consistent in itself
        created_at (datetime.datetime):
        contents (DatasetContents):
        planned (DatasetCounts):
    """

    format_: DatasetHeaderFormat
    version: DatasetHeaderVersion
    id: str
    program: str
    store: str
    snapshot: str
    created_at: datetime.datetime
    contents: DatasetContents
    planned: DatasetCounts
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        format_: str = self.format_

        version: int = self.version

        id = self.id

        program = self.program

        store = self.store

        snapshot = self.snapshot

        created_at = self.created_at.isoformat()

        contents = self.contents.to_dict()

        planned = self.planned.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "format": format_,
                "version": version,
                "id": id,
                "program": program,
                "store": store,
                "snapshot": snapshot,
                "created_at": created_at,
                "contents": contents,
                "planned": planned,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.dataset_contents import DatasetContents
        from ..models.dataset_counts import DatasetCounts

        d = dict(src_dict)
        format_ = check_dataset_header_format(d.pop("format"))

        version = check_dataset_header_version(d.pop("version"))

        id = d.pop("id")

        program = d.pop("program")

        store = d.pop("store")

        snapshot = d.pop("snapshot")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        contents = DatasetContents.from_dict(d.pop("contents"))

        planned = DatasetCounts.from_dict(d.pop("planned"))

        dataset_header = cls(
            format_=format_,
            version=version,
            id=id,
            program=program,
            store=store,
            snapshot=snapshot,
            created_at=created_at,
            contents=contents,
            planned=planned,
        )

        dataset_header.additional_properties = d
        return dataset_header

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
