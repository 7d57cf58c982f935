from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.openai_embeddings_request_encoding_format import (
    OpenaiEmbeddingsRequestEncodingFormat,
    check_openai_embeddings_request_encoding_format,
)
from ..models.openai_embeddings_request_input_type import (
    OpenaiEmbeddingsRequestInputType,
    check_openai_embeddings_request_input_type,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="OpenaiEmbeddingsRequest")


@_attrs_define
class OpenaiEmbeddingsRequest:
    """
    Attributes:
        model (str): an embedding model of this server, or an alias of one
        input_ (list[str] | str): one text or up to 2048, each within the model's window; token ids are refused
        encoding_format (OpenaiEmbeddingsRequestEncodingFormat | Unset): base64: little-endian float32; default: float
        dimensions (int | None | Unset): the model's own; another is refused
        user (None | str | Unset): without effect
        input_type (OpenaiEmbeddingsRequestInputType | Unset): which side of a search the texts stand on; not OpenAI's:
            clients send it as an extra field; default: passage
    """

    model: str
    input_: list[str] | str
    encoding_format: OpenaiEmbeddingsRequestEncodingFormat | Unset = UNSET
    dimensions: int | None | Unset = UNSET
    user: None | str | Unset = UNSET
    input_type: OpenaiEmbeddingsRequestInputType | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        model = self.model

        input_: list[str] | str
        if isinstance(self.input_, list):
            input_ = self.input_

        else:
            input_ = self.input_

        encoding_format: str | Unset = UNSET
        if not isinstance(self.encoding_format, Unset):
            encoding_format = self.encoding_format

        dimensions: int | None | Unset
        if isinstance(self.dimensions, Unset):
            dimensions = UNSET
        else:
            dimensions = self.dimensions

        user: None | str | Unset
        if isinstance(self.user, Unset):
            user = UNSET
        else:
            user = self.user

        input_type: str | Unset = UNSET
        if not isinstance(self.input_type, Unset):
            input_type = self.input_type

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "model": model,
                "input": input_,
            }
        )
        if encoding_format is not UNSET:
            field_dict["encoding_format"] = encoding_format
        if dimensions is not UNSET:
            field_dict["dimensions"] = dimensions
        if user is not UNSET:
            field_dict["user"] = user
        if input_type is not UNSET:
            field_dict["input_type"] = input_type

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        model = d.pop("model")

        def _parse_input_(data: object) -> list[str] | str:
            try:
                if not isinstance(data, list):
                    raise TypeError()
                input_type_1 = cast(list[str], data)

                return input_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | str, data)

        input_ = _parse_input_(d.pop("input"))

        _encoding_format = d.pop("encoding_format", UNSET)
        encoding_format: OpenaiEmbeddingsRequestEncodingFormat | Unset
        if isinstance(_encoding_format, Unset):
            encoding_format = UNSET
        else:
            encoding_format = check_openai_embeddings_request_encoding_format(
                _encoding_format
            )

        def _parse_dimensions(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        dimensions = _parse_dimensions(d.pop("dimensions", UNSET))

        def _parse_user(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        user = _parse_user(d.pop("user", UNSET))

        _input_type = d.pop("input_type", UNSET)
        input_type: OpenaiEmbeddingsRequestInputType | Unset
        if isinstance(_input_type, Unset):
            input_type = UNSET
        else:
            input_type = check_openai_embeddings_request_input_type(_input_type)

        openai_embeddings_request = cls(
            model=model,
            input_=input_,
            encoding_format=encoding_format,
            dimensions=dimensions,
            user=user,
            input_type=input_type,
        )

        return openai_embeddings_request
