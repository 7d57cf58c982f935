from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.metadata import Metadata
    from ..models.query_explain import QueryExplain
    from ..models.query_neighbor import QueryNeighbor


T = TypeVar("T", bound="QueryHit")


@_attrs_define
class QueryHit:
    """
    Attributes:
        id (str): namespace/document_id
        document_id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        chunk_index (int): position of the chunk in the document
        start (int): UTF-8 byte offset into the document's text
        end (int): UTF-8 byte offset after it
        score (float): higher is better; what it is says score_kind
        before (list[QueryNeighbor]): neighbours before the chunk
        after (list[QueryNeighbor]): neighbours after the chunk
        page (int | Unset): page or slide that the chunk begins on, of a document with pages
        heading (str | Unset): headings above the chunk, outermost first, with ' > ' between them; outer ones are left
            out where all would be long
        text (str | Unset): unless include_text is false
        metadata (Metadata | Unset): At most 32 keys and 40960 bytes. Keys have 1-128 characters and don't start with $.
            Values are strings, numbers, booleans and arrays of at most 1000 strings.
        explain (QueryExplain | Unset):
    """

    id: str
    document_id: str
    chunk_index: int
    start: int
    end: int
    score: float
    before: list[QueryNeighbor]
    after: list[QueryNeighbor]
    page: int | Unset = UNSET
    heading: str | Unset = UNSET
    text: str | Unset = UNSET
    metadata: Metadata | Unset = UNSET
    explain: QueryExplain | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        document_id = self.document_id

        chunk_index = self.chunk_index

        start = self.start

        end = self.end

        score = self.score

        before = []
        for before_item_data in self.before:
            before_item = before_item_data.to_dict()
            before.append(before_item)

        after = []
        for after_item_data in self.after:
            after_item = after_item_data.to_dict()
            after.append(after_item)

        page = self.page

        heading = self.heading

        text = self.text

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        explain: dict[str, Any] | Unset = UNSET
        if not isinstance(self.explain, Unset):
            explain = self.explain.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "document_id": document_id,
                "chunk_index": chunk_index,
                "start": start,
                "end": end,
                "score": score,
                "before": before,
                "after": after,
            }
        )
        if page is not UNSET:
            field_dict["page"] = page
        if heading is not UNSET:
            field_dict["heading"] = heading
        if text is not UNSET:
            field_dict["text"] = text
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if explain is not UNSET:
            field_dict["explain"] = explain

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.metadata import Metadata
        from ..models.query_explain import QueryExplain
        from ..models.query_neighbor import QueryNeighbor

        d = dict(src_dict)
        id = d.pop("id")

        document_id = d.pop("document_id")

        chunk_index = d.pop("chunk_index")

        start = d.pop("start")

        end = d.pop("end")

        score = d.pop("score")

        before = []
        _before = d.pop("before")
        for before_item_data in _before:
            before_item = QueryNeighbor.from_dict(before_item_data)

            before.append(before_item)

        after = []
        _after = d.pop("after")
        for after_item_data in _after:
            after_item = QueryNeighbor.from_dict(after_item_data)

            after.append(after_item)

        page = d.pop("page", UNSET)

        heading = d.pop("heading", UNSET)

        text = d.pop("text", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: Metadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = Metadata.from_dict(_metadata)

        _explain = d.pop("explain", UNSET)
        explain: QueryExplain | Unset
        if isinstance(_explain, Unset):
            explain = UNSET
        else:
            explain = QueryExplain.from_dict(_explain)

        query_hit = cls(
            id=id,
            document_id=document_id,
            chunk_index=chunk_index,
            start=start,
            end=end,
            score=score,
            before=before,
            after=after,
            page=page,
            heading=heading,
            text=text,
            metadata=metadata,
            explain=explain,
        )

        query_hit.additional_properties = d
        return query_hit

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
