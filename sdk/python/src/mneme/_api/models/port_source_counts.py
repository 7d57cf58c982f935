from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PortSourceCounts")


@_attrs_define
class PortSourceCounts:
    """
    Attributes:
        seen (int): items that the listing has named
        created (int): items that are new
        updated (int): items whose documents have changed
        unchanged (int): items whose documents stay as they were
        deleted (int): documents deleted because their items are gone
        withheld (int): documents whose items are gone, kept because they are suspiciously many
        failed (int): items that could not be read; their documents stay as they were
        skipped (int): items that are not read on purpose
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

        port_source_counts = cls(
            seen=seen,
            created=created,
            updated=updated,
            unchanged=unchanged,
            deleted=deleted,
            withheld=withheld,
            failed=failed,
            skipped=skipped,
        )

        port_source_counts.additional_properties = d
        return port_source_counts

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
