from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.file_accepted_status import FileAcceptedStatus, check_file_accepted_status
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.document_failure import DocumentFailure
    from ..models.document_written import DocumentWritten
    from ..models.file import File


T = TypeVar("T", bound="FileAccepted")


@_attrs_define
class FileAccepted:
    """
    Attributes:
        id (str): id of the operation
        status (FileAcceptedStatus): how far it is
        done (int): documents that are ready to be stored; all are stored together, at the end
        total (int): documents of the call
        failed (int): files that could not be read
        files (list[File]): one for each file, in the order of the call
        chunks_done (int | Unset): while it is worked on: chunks that have their vectors
        chunks_total (int | Unset): while it is worked on: chunks that need vectors; those of stored text have theirs
        error (DocumentFailure | Unset):
        result (DocumentWritten | Unset):
    """

    id: str
    status: FileAcceptedStatus
    done: int
    total: int
    failed: int
    files: list[File]
    chunks_done: int | Unset = UNSET
    chunks_total: int | Unset = UNSET
    error: DocumentFailure | Unset = UNSET
    result: DocumentWritten | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        status: str = self.status

        done = self.done

        total = self.total

        failed = self.failed

        files = []
        for files_item_data in self.files:
            files_item = files_item_data.to_dict()
            files.append(files_item)

        chunks_done = self.chunks_done

        chunks_total = self.chunks_total

        error: dict[str, Any] | Unset = UNSET
        if not isinstance(self.error, Unset):
            error = self.error.to_dict()

        result: dict[str, Any] | Unset = UNSET
        if not isinstance(self.result, Unset):
            result = self.result.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "status": status,
                "done": done,
                "total": total,
                "failed": failed,
                "files": files,
            }
        )
        if chunks_done is not UNSET:
            field_dict["chunks_done"] = chunks_done
        if chunks_total is not UNSET:
            field_dict["chunks_total"] = chunks_total
        if error is not UNSET:
            field_dict["error"] = error
        if result is not UNSET:
            field_dict["result"] = result

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.document_failure import DocumentFailure
        from ..models.document_written import DocumentWritten
        from ..models.file import File

        d = dict(src_dict)
        id = d.pop("id")

        status = check_file_accepted_status(d.pop("status"))

        done = d.pop("done")

        total = d.pop("total")

        failed = d.pop("failed")

        files = []
        _files = d.pop("files")
        for files_item_data in _files:
            files_item = File.from_dict(files_item_data)

            files.append(files_item)

        chunks_done = d.pop("chunks_done", UNSET)

        chunks_total = d.pop("chunks_total", UNSET)

        _error = d.pop("error", UNSET)
        error: DocumentFailure | Unset
        if isinstance(_error, Unset):
            error = UNSET
        else:
            error = DocumentFailure.from_dict(_error)

        _result = d.pop("result", UNSET)
        result: DocumentWritten | Unset
        if isinstance(_result, Unset):
            result = UNSET
        else:
            result = DocumentWritten.from_dict(_result)

        file_accepted = cls(
            id=id,
            status=status,
            done=done,
            total=total,
            failed=failed,
            files=files,
            chunks_done=chunks_done,
            chunks_total=chunks_total,
            error=error,
            result=result,
        )

        file_accepted.additional_properties = d
        return file_accepted

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
