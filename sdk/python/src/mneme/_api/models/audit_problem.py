from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.audit_problem_kind import AuditProblemKind, check_audit_problem_kind

T = TypeVar("T", bound="AuditProblem")


@_attrs_define
class AuditProblem:
    """
    Attributes:
        seq (int): number of the record
        kind (AuditProblemKind): removed: it is not there; changed: it is not what was recorded; inserted: it does not
            follow the one before
    """

    seq: int
    kind: AuditProblemKind
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        seq = self.seq

        kind: str = self.kind

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "seq": seq,
                "kind": kind,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        seq = d.pop("seq")

        kind = check_audit_problem_kind(d.pop("kind"))

        audit_problem = cls(
            seq=seq,
            kind=kind,
        )

        audit_problem.additional_properties = d
        return audit_problem

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
