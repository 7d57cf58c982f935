from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.degraded import Degraded
    from ..models.memory_cited import MemoryCited
    from ..models.memory_cited_passage import MemoryCitedPassage


T = TypeVar("T", bound="MemoryContextBlock")


@_attrs_define
class MemoryContextBlock:
    """
    Attributes:
        success (bool):
        context (str): text for a prompt; empty: nothing is known
        tokens (int): tokens of context
        tokenizer (None | str): the model whose tokenizer counted; null: the model does not count, and tokens are
            estimated
        citations (list[MemoryCited]): one for each marker of a memory
        passages (list[MemoryCitedPassage]): one for each marker of a passage
        omitted (int): memories and passages that were found and do not fit
        degraded (list[Degraded]): parts left out of this answer, or that took part with less, and why
    """

    success: bool
    context: str
    tokens: int
    tokenizer: None | str
    citations: list[MemoryCited]
    passages: list[MemoryCitedPassage]
    omitted: int
    degraded: list[Degraded]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        success = self.success

        context = self.context

        tokens = self.tokens

        tokenizer: None | str
        tokenizer = self.tokenizer

        citations = []
        for citations_item_data in self.citations:
            citations_item = citations_item_data.to_dict()
            citations.append(citations_item)

        passages = []
        for passages_item_data in self.passages:
            passages_item = passages_item_data.to_dict()
            passages.append(passages_item)

        omitted = self.omitted

        degraded = []
        for degraded_item_data in self.degraded:
            degraded_item = degraded_item_data.to_dict()
            degraded.append(degraded_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "success": success,
                "context": context,
                "tokens": tokens,
                "tokenizer": tokenizer,
                "citations": citations,
                "passages": passages,
                "omitted": omitted,
                "degraded": degraded,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.degraded import Degraded
        from ..models.memory_cited import MemoryCited
        from ..models.memory_cited_passage import MemoryCitedPassage

        d = dict(src_dict)
        success = d.pop("success")

        context = d.pop("context")

        tokens = d.pop("tokens")

        def _parse_tokenizer(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        tokenizer = _parse_tokenizer(d.pop("tokenizer"))

        citations = []
        _citations = d.pop("citations")
        for citations_item_data in _citations:
            citations_item = MemoryCited.from_dict(citations_item_data)

            citations.append(citations_item)

        passages = []
        _passages = d.pop("passages")
        for passages_item_data in _passages:
            passages_item = MemoryCitedPassage.from_dict(passages_item_data)

            passages.append(passages_item)

        omitted = d.pop("omitted")

        degraded = []
        _degraded = d.pop("degraded")
        for degraded_item_data in _degraded:
            degraded_item = Degraded.from_dict(degraded_item_data)

            degraded.append(degraded_item)

        memory_context_block = cls(
            success=success,
            context=context,
            tokens=tokens,
            tokenizer=tokenizer,
            citations=citations,
            passages=passages,
            omitted=omitted,
            degraded=degraded,
        )

        memory_context_block.additional_properties = d
        return memory_context_block

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
