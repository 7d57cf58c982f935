from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.rerank_meta_api_version import RerankMetaApiVersion
    from ..models.rerank_meta_billed_units import RerankMetaBilledUnits


T = TypeVar("T", bound="RerankMeta")


@_attrs_define
class RerankMeta:
    """
    Attributes:
        api_version (RerankMetaApiVersion):
        billed_units (RerankMetaBilledUnits):
        warnings (list[str] | Unset): that texts were cut at the model's window
    """

    api_version: RerankMetaApiVersion
    billed_units: RerankMetaBilledUnits
    warnings: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        api_version = self.api_version.to_dict()

        billed_units = self.billed_units.to_dict()

        warnings: list[str] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = self.warnings

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "api_version": api_version,
                "billed_units": billed_units,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.rerank_meta_api_version import RerankMetaApiVersion
        from ..models.rerank_meta_billed_units import RerankMetaBilledUnits

        d = dict(src_dict)
        api_version = RerankMetaApiVersion.from_dict(d.pop("api_version"))

        billed_units = RerankMetaBilledUnits.from_dict(d.pop("billed_units"))

        warnings = cast(list[str], d.pop("warnings", UNSET))

        rerank_meta = cls(
            api_version=api_version,
            billed_units=billed_units,
            warnings=warnings,
        )

        rerank_meta.additional_properties = d
        return rerank_meta

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
