from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.rerank_alias_scored_document_type_1 import (
        RerankAliasScoredDocumentType1,
    )


T = TypeVar("T", bound="RerankAliasScored")


@_attrs_define
class RerankAliasScored:
    """
    Attributes:
        index (int): position in documents
        relevance_score (float): probability of relevance
        document (RerankAliasScoredDocumentType1 | str | Unset): with return_documents
    """

    index: int
    relevance_score: float
    document: RerankAliasScoredDocumentType1 | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.rerank_alias_scored_document_type_1 import (
            RerankAliasScoredDocumentType1,
        )

        index = self.index

        relevance_score = self.relevance_score

        document: dict[str, Any] | str | Unset
        if isinstance(self.document, Unset):
            document = UNSET
        elif isinstance(self.document, RerankAliasScoredDocumentType1):
            document = self.document.to_dict()
        else:
            document = self.document

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "index": index,
                "relevance_score": relevance_score,
            }
        )
        if document is not UNSET:
            field_dict["document"] = document

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.rerank_alias_scored_document_type_1 import (
            RerankAliasScoredDocumentType1,
        )

        d = dict(src_dict)
        index = d.pop("index")

        relevance_score = d.pop("relevance_score")

        def _parse_document(
            data: object,
        ) -> RerankAliasScoredDocumentType1 | str | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                document_type_1 = RerankAliasScoredDocumentType1.from_dict(data)

                return document_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(RerankAliasScoredDocumentType1 | str | Unset, data)

        document = _parse_document(d.pop("document", UNSET))

        rerank_alias_scored = cls(
            index=index,
            relevance_score=relevance_score,
            document=document,
        )

        rerank_alias_scored.additional_properties = d
        return rerank_alias_scored

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
