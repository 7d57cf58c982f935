from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.openai_ranking import OpenaiRanking
    from ..models.openai_search_request_filters_type_0 import (
        OpenaiSearchRequestFiltersType0,
    )
    from ..models.openai_search_request_filters_type_1 import (
        OpenaiSearchRequestFiltersType1,
    )
    from ..models.openai_search_request_filters_type_2 import (
        OpenaiSearchRequestFiltersType2,
    )


T = TypeVar("T", bound="OpenaiSearchRequest")


@_attrs_define
class OpenaiSearchRequest:
    """
    Attributes:
        query (list[str] | str): the question
        max_num_results (int | None | Unset): how many at most; default: 10
        filters (OpenaiSearchRequestFiltersType0 | OpenaiSearchRequestFiltersType1 | OpenaiSearchRequestFiltersType2 |
            Unset): on attributes: eq and in of a key, and and or of filters
        ranking_options (None | OpenaiRanking | Unset): how results are ranked
        rewrite_query (bool | None | Unset): true is refused: no language model rewrites it; default: false
    """

    query: list[str] | str
    max_num_results: int | None | Unset = UNSET
    filters: (
        OpenaiSearchRequestFiltersType0
        | OpenaiSearchRequestFiltersType1
        | OpenaiSearchRequestFiltersType2
        | Unset
    ) = UNSET
    ranking_options: None | OpenaiRanking | Unset = UNSET
    rewrite_query: bool | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.openai_ranking import OpenaiRanking
        from ..models.openai_search_request_filters_type_0 import (
            OpenaiSearchRequestFiltersType0,
        )
        from ..models.openai_search_request_filters_type_1 import (
            OpenaiSearchRequestFiltersType1,
        )

        query: list[str] | str
        if isinstance(self.query, list):
            query = self.query

        else:
            query = self.query

        max_num_results: int | None | Unset
        if isinstance(self.max_num_results, Unset):
            max_num_results = UNSET
        else:
            max_num_results = self.max_num_results

        filters: dict[str, Any] | Unset
        if isinstance(self.filters, Unset):
            filters = UNSET
        elif isinstance(self.filters, OpenaiSearchRequestFiltersType0) or isinstance(
            self.filters, OpenaiSearchRequestFiltersType1
        ):
            filters = self.filters.to_dict()
        else:
            filters = self.filters.to_dict()

        ranking_options: dict[str, Any] | None | Unset
        if isinstance(self.ranking_options, Unset):
            ranking_options = UNSET
        elif isinstance(self.ranking_options, OpenaiRanking):
            ranking_options = self.ranking_options.to_dict()
        else:
            ranking_options = self.ranking_options

        rewrite_query: bool | None | Unset
        if isinstance(self.rewrite_query, Unset):
            rewrite_query = UNSET
        else:
            rewrite_query = self.rewrite_query

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "query": query,
            }
        )
        if max_num_results is not UNSET:
            field_dict["max_num_results"] = max_num_results
        if filters is not UNSET:
            field_dict["filters"] = filters
        if ranking_options is not UNSET:
            field_dict["ranking_options"] = ranking_options
        if rewrite_query is not UNSET:
            field_dict["rewrite_query"] = rewrite_query

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.openai_ranking import OpenaiRanking
        from ..models.openai_search_request_filters_type_0 import (
            OpenaiSearchRequestFiltersType0,
        )
        from ..models.openai_search_request_filters_type_1 import (
            OpenaiSearchRequestFiltersType1,
        )
        from ..models.openai_search_request_filters_type_2 import (
            OpenaiSearchRequestFiltersType2,
        )

        d = dict(src_dict)

        def _parse_query(data: object) -> list[str] | str:
            try:
                if not isinstance(data, list):
                    raise TypeError()
                query_type_1 = cast(list[str], data)

                return query_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | str, data)

        query = _parse_query(d.pop("query"))

        def _parse_max_num_results(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_num_results = _parse_max_num_results(d.pop("max_num_results", UNSET))

        def _parse_filters(
            data: object,
        ) -> (
            OpenaiSearchRequestFiltersType0
            | OpenaiSearchRequestFiltersType1
            | OpenaiSearchRequestFiltersType2
            | Unset
        ):
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                filters_type_0 = OpenaiSearchRequestFiltersType0.from_dict(data)

                return filters_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                filters_type_1 = OpenaiSearchRequestFiltersType1.from_dict(data)

                return filters_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            filters_type_2 = OpenaiSearchRequestFiltersType2.from_dict(data)

            return filters_type_2

        filters = _parse_filters(d.pop("filters", UNSET))

        def _parse_ranking_options(data: object) -> None | OpenaiRanking | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                ranking_options_type_0 = OpenaiRanking.from_dict(data)

                return ranking_options_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OpenaiRanking | Unset, data)

        ranking_options = _parse_ranking_options(d.pop("ranking_options", UNSET))

        def _parse_rewrite_query(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        rewrite_query = _parse_rewrite_query(d.pop("rewrite_query", UNSET))

        openai_search_request = cls(
            query=query,
            max_num_results=max_num_results,
            filters=filters,
            ranking_options=ranking_options,
            rewrite_query=rewrite_query,
        )

        return openai_search_request
