from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="EventRunCounts")


@_attrs_define
class EventRunCounts:
    """
    Attributes:
        seen (int):
        created (int):
        updated (int):
        unchanged (int):
        deleted (int):
        withheld (int):
        failed (int):
        skipped (int):
    """

    seen: int
    created: int
    updated: int
    unchanged: int
    deleted: int
    withheld: int
    failed: int
    skipped: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        seen = self.seen

        created = self.created

        updated = self.updated

        unchanged = self.unchanged

        deleted = self.deleted

        withheld = self.withheld

        failed = self.failed

        skipped = self.skipped

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "seen": seen,
                "created": created,
                "updated": updated,
                "unchanged": unchanged,
                "deleted": deleted,
                "withheld": withheld,
                "failed": failed,
                "skipped": skipped,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        seen = d.pop("seen")

        created = d.pop("created")

        updated = d.pop("updated")

        unchanged = d.pop("unchanged")

        deleted = d.pop("deleted")

        withheld = d.pop("withheld")

        failed = d.pop("failed")

        skipped = d.pop("skipped")

        event_run_counts = cls(
            seen=seen,
            created=created,
            updated=updated,
            unchanged=unchanged,
            deleted=deleted,
            withheld=withheld,
            failed=failed,
            skipped=skipped,
        )

        event_run_counts.additional_properties = d
        return event_run_counts

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
