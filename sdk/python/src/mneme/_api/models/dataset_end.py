from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.dataset_counts import DatasetCounts


T = TypeVar("T", bound="DatasetEnd")


@_attrs_define
class DatasetEnd:
    """
    Attributes:
        seq (int): change number of the snapshot
        counts (DatasetCounts):
        hash_ (str): SHA-256 over the hashes of the lines before, from the namespace line on; in hexadecimal. The same
            data has the same hash on every server
        last_seen_at (datetime.datetime | Unset): of an end user; a search moves it, so it is no part of the hash
    """

    seq: int
    counts: DatasetCounts
    hash_: str
    last_seen_at: datetime.datetime | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        seq = self.seq

        counts = self.counts.to_dict()

        hash_ = self.hash_

        last_seen_at: str | Unset = UNSET
        if not isinstance(self.last_seen_at, Unset):
            last_seen_at = self.last_seen_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "seq": seq,
                "counts": counts,
                "hash": hash_,
            }
        )
        if last_seen_at is not UNSET:
            field_dict["last_seen_at"] = last_seen_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.dataset_counts import DatasetCounts

        d = dict(src_dict)
        seq = d.pop("seq")

        counts = DatasetCounts.from_dict(d.pop("counts"))

        hash_ = d.pop("hash")

        _last_seen_at = d.pop("last_seen_at", UNSET)
        last_seen_at: datetime.datetime | Unset
        if isinstance(_last_seen_at, Unset):
            last_seen_at = UNSET
        else:
            last_seen_at = datetime.datetime.fromisoformat(_last_seen_at)

        dataset_end = cls(
            seq=seq,
            counts=counts,
            hash_=hash_,
            last_seen_at=last_seen_at,
        )

        dataset_end.additional_properties = d
        return dataset_end

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
