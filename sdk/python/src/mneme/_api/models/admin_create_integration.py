from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.admin_quota_change import AdminQuotaChange


T = TypeVar("T", bound="AdminCreateIntegration")


@_attrs_define
class AdminCreateIntegration:
    """
    Attributes:
        name (str): its name, which does not begin with int_
        quotas (AdminQuotaChange | None | Unset): those left out take the defaults
        grants_required (bool | None | Unset): whether sources write memories of its end users by a grant only; default:
            false
    """

    name: str
    quotas: AdminQuotaChange | None | Unset = UNSET
    grants_required: bool | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.admin_quota_change import AdminQuotaChange

        name = self.name

        quotas: dict[str, Any] | None | Unset
        if isinstance(self.quotas, Unset):
            quotas = UNSET
        elif isinstance(self.quotas, AdminQuotaChange):
            quotas = self.quotas.to_dict()
        else:
            quotas = self.quotas

        grants_required: bool | None | Unset
        if isinstance(self.grants_required, Unset):
            grants_required = UNSET
        else:
            grants_required = self.grants_required

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
            }
        )
        if quotas is not UNSET:
            field_dict["quotas"] = quotas
        if grants_required is not UNSET:
            field_dict["grants_required"] = grants_required

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.admin_quota_change import AdminQuotaChange

        d = dict(src_dict)
        name = d.pop("name")

        def _parse_quotas(data: object) -> AdminQuotaChange | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                quotas_type_0 = AdminQuotaChange.from_dict(data)

                return quotas_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AdminQuotaChange | None | Unset, data)

        quotas = _parse_quotas(d.pop("quotas", UNSET))

        def _parse_grants_required(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        grants_required = _parse_grants_required(d.pop("grants_required", UNSET))

        admin_create_integration = cls(
            name=name,
            quotas=quotas,
            grants_required=grants_required,
        )

        return admin_create_integration
