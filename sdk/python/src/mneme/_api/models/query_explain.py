from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.query_rank import QueryRank


T = TypeVar("T", bound="QueryExplain")


@_attrs_define
class QueryExplain:
    """
    Attributes:
        vector (None | QueryRank):
        keyword (None | QueryRank):
        sparse (None | QueryRank):
        fused (None | QueryRank):
        rerank (None | QueryRank):
    """

    vector: None | QueryRank
    keyword: None | QueryRank
    sparse: None | QueryRank
    fused: None | QueryRank
    rerank: None | QueryRank
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.query_rank import QueryRank

        vector: dict[str, Any] | None
        if isinstance(self.vector, QueryRank):
            vector = self.vector.to_dict()
        else:
            vector = self.vector

        keyword: dict[str, Any] | None
        if isinstance(self.keyword, QueryRank):
            keyword = self.keyword.to_dict()
        else:
            keyword = self.keyword

        sparse: dict[str, Any] | None
        if isinstance(self.sparse, QueryRank):
            sparse = self.sparse.to_dict()
        else:
            sparse = self.sparse

        fused: dict[str, Any] | None
        if isinstance(self.fused, QueryRank):
            fused = self.fused.to_dict()
        else:
            fused = self.fused

        rerank: dict[str, Any] | None
        if isinstance(self.rerank, QueryRank):
            rerank = self.rerank.to_dict()
        else:
            rerank = self.rerank

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "vector": vector,
                "keyword": keyword,
                "sparse": sparse,
                "fused": fused,
                "rerank": rerank,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.query_rank import QueryRank

        d = dict(src_dict)

        def _parse_vector(data: object) -> None | QueryRank:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                vector_type_0 = QueryRank.from_dict(data)

                return vector_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | QueryRank, data)

        vector = _parse_vector(d.pop("vector"))

        def _parse_keyword(data: object) -> None | QueryRank:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                keyword_type_0 = QueryRank.from_dict(data)

                return keyword_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | QueryRank, data)

        keyword = _parse_keyword(d.pop("keyword"))

        def _parse_sparse(data: object) -> None | QueryRank:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                sparse_type_0 = QueryRank.from_dict(data)

                return sparse_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | QueryRank, data)

        sparse = _parse_sparse(d.pop("sparse"))

        def _parse_fused(data: object) -> None | QueryRank:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                fused_type_0 = QueryRank.from_dict(data)

                return fused_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | QueryRank, data)

        fused = _parse_fused(d.pop("fused"))

        def _parse_rerank(data: object) -> None | QueryRank:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                rerank_type_0 = QueryRank.from_dict(data)

                return rerank_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | QueryRank, data)

        rerank = _parse_rerank(d.pop("rerank"))

        query_explain = cls(
            vector=vector,
            keyword=keyword,
            sparse=sparse,
            fused=fused,
            rerank=rerank,
        )

        query_explain.additional_properties = d
        return query_explain

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
