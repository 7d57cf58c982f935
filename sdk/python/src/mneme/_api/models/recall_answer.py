from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.degraded import Degraded
    from ..models.memory_result import MemoryResult
    from ..models.recall_citation import RecallCitation
    from ..models.recall_usage import RecallUsage


T = TypeVar("T", bound="RecallAnswer")


@_attrs_define
class RecallAnswer:
    """
    Attributes:
        success (bool):
        answer (None | str): null when the memories hold no answer
        abstained (bool): whether the memories hold no answer
        model (str): extractive, or the language model that wrote the answer
        citations (list[RecallCitation]):
        results (list[MemoryResult]): the memories used, as in search
        degraded (list[Degraded]): parts left out of this answer, and why
        usage (RecallUsage):
    """

    success: bool
    answer: None | str
    abstained: bool
    model: str
    citations: list[RecallCitation]
    results: list[MemoryResult]
    degraded: list[Degraded]
    usage: RecallUsage
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        success = self.success

        answer: None | str
        answer = self.answer

        abstained = self.abstained

        model = self.model

        citations = []
        for citations_item_data in self.citations:
            citations_item = citations_item_data.to_dict()
            citations.append(citations_item)

        results = []
        for results_item_data in self.results:
            results_item = results_item_data.to_dict()
            results.append(results_item)

        degraded = []
        for degraded_item_data in self.degraded:
            degraded_item = degraded_item_data.to_dict()
            degraded.append(degraded_item)

        usage = self.usage.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "success": success,
                "answer": answer,
                "abstained": abstained,
                "model": model,
                "citations": citations,
                "results": results,
                "degraded": degraded,
                "usage": usage,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.degraded import Degraded
        from ..models.memory_result import MemoryResult
        from ..models.recall_citation import RecallCitation
        from ..models.recall_usage import RecallUsage

        d = dict(src_dict)
        success = d.pop("success")

        def _parse_answer(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        answer = _parse_answer(d.pop("answer"))

        abstained = d.pop("abstained")

        model = d.pop("model")

        citations = []
        _citations = d.pop("citations")
        for citations_item_data in _citations:
            citations_item = RecallCitation.from_dict(citations_item_data)

            citations.append(citations_item)

        results = []
        _results = d.pop("results")
        for results_item_data in _results:
            results_item = MemoryResult.from_dict(results_item_data)

            results.append(results_item)

        degraded = []
        _degraded = d.pop("degraded")
        for degraded_item_data in _degraded:
            degraded_item = Degraded.from_dict(degraded_item_data)

            degraded.append(degraded_item)

        usage = RecallUsage.from_dict(d.pop("usage"))

        recall_answer = cls(
            success=success,
            answer=answer,
            abstained=abstained,
            model=model,
            citations=citations,
            results=results,
            degraded=degraded,
            usage=usage,
        )

        recall_answer.additional_properties = d
        return recall_answer

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
