from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CheckOutcome")


@_attrs_define
class CheckOutcome:
    """
    Attributes:
        name (str):
        query (str):
        passed (bool): every document that it should find is among the first
        missing (list[str]): ids of expected documents that are not among the first
        found (list[str]): ids of the first documents, best first
        came (list[str]): ids among the first now that were not when it was saved
        left (list[str]): ids among the first when it was saved that are not now
        changed (bool): the first documents are others than when it was saved, or in another order
        degraded (list[str]): parts left out of the answer
        error (None | str): why it could not be asked, which does not pass; null: it was asked
    """

    name: str
    query: str
    passed: bool
    missing: list[str]
    found: list[str]
    came: list[str]
    left: list[str]
    changed: bool
    degraded: list[str]
    error: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        query = self.query

        passed = self.passed

        missing = self.missing

        found = self.found

        came = self.came

        left = self.left

        changed = self.changed

        degraded = self.degraded

        error: None | str
        error = self.error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "query": query,
                "passed": passed,
                "missing": missing,
                "found": found,
                "came": came,
                "left": left,
                "changed": changed,
                "degraded": degraded,
                "error": error,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        query = d.pop("query")

        passed = d.pop("passed")

        missing = cast(list[str], d.pop("missing"))

        found = cast(list[str], d.pop("found"))

        came = cast(list[str], d.pop("came"))

        left = cast(list[str], d.pop("left"))

        changed = d.pop("changed")

        degraded = cast(list[str], d.pop("degraded"))

        def _parse_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error = _parse_error(d.pop("error"))

        check_outcome = cls(
            name=name,
            query=query,
            passed=passed,
            missing=missing,
            found=found,
            came=came,
            left=left,
            changed=changed,
            degraded=degraded,
            error=error,
        )

        check_outcome.additional_properties = d
        return check_outcome

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
