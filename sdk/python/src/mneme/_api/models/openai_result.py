from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.metadata import Metadata
    from ..models.openai_content import OpenaiContent


T = TypeVar("T", bound="OpenaiResult")


@_attrs_define
class OpenaiResult:
    """
    Attributes:
        file_id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        filename (str): path of its file, else its title, else its id
        score (float): higher is better
        attributes (Metadata): At most 32 keys and 40960 bytes. Keys have 1-128 characters and don't start with $.
            Values are strings, numbers, booleans and arrays of at most 1000 strings.
        content (list[OpenaiContent]): one chunk
    """

    file_id: str
    filename: str
    score: float
    attributes: Metadata
    content: list[OpenaiContent]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        file_id = self.file_id

        filename = self.filename

        score = self.score

        attributes = self.attributes.to_dict()

        content = []
        for content_item_data in self.content:
            content_item = content_item_data.to_dict()
            content.append(content_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "file_id": file_id,
                "filename": filename,
                "score": score,
                "attributes": attributes,
                "content": content,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.metadata import Metadata
        from ..models.openai_content import OpenaiContent

        d = dict(src_dict)
        file_id = d.pop("file_id")

        filename = d.pop("filename")

        score = d.pop("score")

        attributes = Metadata.from_dict(d.pop("attributes"))

        content = []
        _content = d.pop("content")
        for content_item_data in _content:
            content_item = OpenaiContent.from_dict(content_item_data)

            content.append(content_item)

        openai_result = cls(
            file_id=file_id,
            filename=filename,
            score=score,
            attributes=attributes,
            content=content,
        )

        openai_result.additional_properties = d
        return openai_result

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
