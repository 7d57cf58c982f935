from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="MemoryCitedPassage")


@_attrs_define
class MemoryCitedPassage:
    """
    Attributes:
        marker (int): its number in the block
        namespace (str):
        document_id (str):
        title (str): of the document; empty: it has none
        start (int): UTF-8 byte offset, in the document's text, of what the block shows of it
        end (int): UTF-8 byte offset after it
        score (float): higher is better; not on the scale of memories
        page (int | Unset): page or slide that it begins on, of a document with pages
    """

    marker: int
    namespace: str
    document_id: str
    title: str
    start: int
    end: int
    score: float
    page: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        marker = self.marker

        namespace = self.namespace

        document_id = self.document_id

        title = self.title

        start = self.start

        end = self.end

        score = self.score

        page = self.page

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "marker": marker,
                "namespace": namespace,
                "documentId": document_id,
                "title": title,
                "start": start,
                "end": end,
                "score": score,
            }
        )
        if page is not UNSET:
            field_dict["page"] = page

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        marker = d.pop("marker")

        namespace = d.pop("namespace")

        document_id = d.pop("documentId")

        title = d.pop("title")

        start = d.pop("start")

        end = d.pop("end")

        score = d.pop("score")

        page = d.pop("page", UNSET)

        memory_cited_passage = cls(
            marker=marker,
            namespace=namespace,
            document_id=document_id,
            title=title,
            start=start,
            end=end,
            score=score,
            page=page,
        )

        memory_cited_passage.additional_properties = d
        return memory_cited_passage

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
