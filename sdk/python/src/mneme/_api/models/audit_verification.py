from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.audit_problem import AuditProblem


T = TypeVar("T", bound="AuditVerification")


@_attrs_define
class AuditVerification:
    """
    Attributes:
        intact (bool): no record has been removed, changed or put in
        records (int): how many were read
        trimmed (int): number of the last one that was removed because its time was up; 0: none
        last (int): number of the last one; 0: there is none
        hash_ (str): hash of the last one; keep last:hash elsewhere, and give it to a later verification
        problem (AuditProblem | None): the first thing that is wrong; null: nothing is
    """

    intact: bool
    records: int
    trimmed: int
    last: int
    hash_: str
    problem: AuditProblem | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.audit_problem import AuditProblem

        intact = self.intact

        records = self.records

        trimmed = self.trimmed

        last = self.last

        hash_ = self.hash_

        problem: dict[str, Any] | None
        if isinstance(self.problem, AuditProblem):
            problem = self.problem.to_dict()
        else:
            problem = self.problem

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "intact": intact,
                "records": records,
                "trimmed": trimmed,
                "last": last,
                "hash": hash_,
                "problem": problem,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.audit_problem import AuditProblem

        d = dict(src_dict)
        intact = d.pop("intact")

        records = d.pop("records")

        trimmed = d.pop("trimmed")

        last = d.pop("last")

        hash_ = d.pop("hash")

        def _parse_problem(data: object) -> AuditProblem | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                problem_type_0 = AuditProblem.from_dict(data)

                return problem_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AuditProblem | None, data)

        problem = _parse_problem(d.pop("problem"))

        audit_verification = cls(
            intact=intact,
            records=records,
            trimmed=trimmed,
            last=last,
            hash_=hash_,
            problem=problem,
        )

        audit_verification.additional_properties = d
        return audit_verification

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
