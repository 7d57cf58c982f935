from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.check_outcome import CheckOutcome


T = TypeVar("T", bound="CheckReport")


@_attrs_define
class CheckReport:
    """
    Attributes:
        passed (int): how many pass
        failed (int): how many do not
        outcomes (list[CheckOutcome]): of every saved query, by name
    """

    passed: int
    failed: int
    outcomes: list[CheckOutcome]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        passed = self.passed

        failed = self.failed

        outcomes = []
        for outcomes_item_data in self.outcomes:
            outcomes_item = outcomes_item_data.to_dict()
            outcomes.append(outcomes_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "passed": passed,
                "failed": failed,
                "outcomes": outcomes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.check_outcome import CheckOutcome

        d = dict(src_dict)
        passed = d.pop("passed")

        failed = d.pop("failed")

        outcomes = []
        _outcomes = d.pop("outcomes")
        for outcomes_item_data in _outcomes:
            outcomes_item = CheckOutcome.from_dict(outcomes_item_data)

            outcomes.append(outcomes_item)

        check_report = cls(
            passed=passed,
            failed=failed,
            outcomes=outcomes,
        )

        check_report.additional_properties = d
        return check_report

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
