from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.model_kind import ModelKind, check_model_kind
from ..models.model_runtime import ModelRuntime, check_model_runtime
from ..models.model_status import ModelStatus, check_model_status

T = TypeVar("T", bound="Model")


@_attrs_define
class Model:
    """
    Attributes:
        id (str): as in requests
        kind (ModelKind): what it does
        status (ModelStatus): ready; loading: it is starting; off: no role uses it for this; error: it failed when it
            was last called, by a caller or by the deep health check, or does not answer
        default (bool): whether it is what calls use that name none
        dimensions (int | None): of its vectors; null: it makes none
        max_input_tokens (int): its window; longer texts are cut
        languages (list[str]): BCP 47; empty: not said
        runtime (ModelRuntime): where it runs; wasm: in the server; plugin: in a process beside it (component process);
            remote: on another server
        version (str): of the model, as its vendor names it; empty: not said
        digest (str): identity of its code and weights
        license_ (str): SPDX identifier
    """

    id: str
    kind: ModelKind
    status: ModelStatus
    default: bool
    dimensions: int | None
    max_input_tokens: int
    languages: list[str]
    runtime: ModelRuntime
    version: str
    digest: str
    license_: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        kind: str = self.kind

        status: str = self.status

        default = self.default

        dimensions: int | None
        dimensions = self.dimensions

        max_input_tokens = self.max_input_tokens

        languages = self.languages

        runtime: str = self.runtime

        version = self.version

        digest = self.digest

        license_ = self.license_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "kind": kind,
                "status": status,
                "default": default,
                "dimensions": dimensions,
                "max_input_tokens": max_input_tokens,
                "languages": languages,
                "runtime": runtime,
                "version": version,
                "digest": digest,
                "license": license_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        kind = check_model_kind(d.pop("kind"))

        status = check_model_status(d.pop("status"))

        default = d.pop("default")

        def _parse_dimensions(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        dimensions = _parse_dimensions(d.pop("dimensions"))

        max_input_tokens = d.pop("max_input_tokens")

        languages = cast(list[str], d.pop("languages"))

        runtime = check_model_runtime(d.pop("runtime"))

        version = d.pop("version")

        digest = d.pop("digest")

        license_ = d.pop("license")

        model = cls(
            id=id,
            kind=kind,
            status=status,
            default=default,
            dimensions=dimensions,
            max_input_tokens=max_input_tokens,
            languages=languages,
            runtime=runtime,
            version=version,
            digest=digest,
            license_=license_,
        )

        model.additional_properties = d
        return model

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
