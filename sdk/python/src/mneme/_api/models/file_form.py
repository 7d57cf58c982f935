from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from .. import types
from ..types import UNSET, File, Unset

T = TypeVar("T", bound="FileForm")


@_attrs_define
class FileForm:
    """
    Attributes:
        file (list[File]): files to read, each name once
        metadata (str | Unset): a JSON object: metadata of every document, for filters; comes back with hits
    """

    file: list[File]
    metadata: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        file = []
        for file_item_data in self.file:
            file_item = file_item_data.to_tuple()

            file.append(file_item)

        metadata = self.metadata

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "file": file,
            }
        )
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    def to_multipart(self) -> types.RequestFiles:
        files: types.RequestFiles = []

        for file_item_element in self.file:
            files.append(("file", file_item_element.to_tuple()))

        if not isinstance(self.metadata, Unset):
            files.append(
                ("metadata", (None, str(self.metadata).encode(), "text/plain"))
            )

        return files

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        file = []
        _file = d.pop("file")
        for file_item_data in _file:
            file_item = File(payload=BytesIO(file_item_data))

            file.append(file_item)

        metadata = d.pop("metadata", UNSET)

        file_form = cls(
            file=file,
            metadata=metadata,
        )

        return file_form
