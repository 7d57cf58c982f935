from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.openai_embedding_object import (
    OpenaiEmbeddingObject,
    check_openai_embedding_object,
)

T = TypeVar("T", bound="OpenaiEmbedding")


@_attrs_define
class OpenaiEmbedding:
    """
    Attributes:
        object_ (OpenaiEmbeddingObject):
        index (int): place of its text in the input
        embedding (list[float] | str): of unit length
    """

    object_: OpenaiEmbeddingObject
    index: int
    embedding: list[float] | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_: str = self.object_

        index = self.index

        embedding: list[float] | str
        if isinstance(self.embedding, list):
            embedding = self.embedding

        else:
            embedding = self.embedding

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "index": index,
                "embedding": embedding,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        object_ = check_openai_embedding_object(d.pop("object"))

        index = d.pop("index")

        def _parse_embedding(data: object) -> list[float] | str:
            try:
                if not isinstance(data, list):
                    raise TypeError()
                embedding_type_0 = cast(list[float], data)

                return embedding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[float] | str, data)

        embedding = _parse_embedding(d.pop("embedding"))

        openai_embedding = cls(
            object_=object_,
            index=index,
            embedding=embedding,
        )

        openai_embedding.additional_properties = d
        return openai_embedding

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
