from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="EventDocumentsData")


@_attrs_define
class EventDocumentsData:
    """
    Attributes:
        organization_id (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        ids (list[str]): of the documents; many come in several events
        count (int): how many ids there are
        change (int): number of the change in the namespace: it rises, until the namespace is deleted
        source_id (None | str): of the source that keeps the documents; null: callers write them
        request_id (str | Unset): of the call that did it; none: the server did it by itself
    """

    organization_id: str
    namespace: str
    ids: list[str]
    count: int
    change: int
    source_id: None | str
    request_id: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        organization_id = self.organization_id

        namespace = self.namespace

        ids = self.ids

        count = self.count

        change = self.change

        source_id: None | str
        source_id = self.source_id

        request_id = self.request_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "organization_id": organization_id,
                "namespace": namespace,
                "ids": ids,
                "count": count,
                "change": change,
                "source_id": source_id,
            }
        )
        if request_id is not UNSET:
            field_dict["request_id"] = request_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        organization_id = d.pop("organization_id")

        namespace = d.pop("namespace")

        ids = cast(list[str], d.pop("ids"))

        count = d.pop("count")

        change = d.pop("change")

        def _parse_source_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        source_id = _parse_source_id(d.pop("source_id"))

        request_id = d.pop("request_id", UNSET)

        event_documents_data = cls(
            organization_id=organization_id,
            namespace=namespace,
            ids=ids,
            count=count,
            change=change,
            source_id=source_id,
            request_id=request_id,
        )

        event_documents_data.additional_properties = d
        return event_documents_data

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
