from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.document_operation_status import (
    DocumentOperationStatus,
    check_document_operation_status,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.document_failure import DocumentFailure
    from ..models.document_written import DocumentWritten


T = TypeVar("T", bound="DocumentOperation")


@_attrs_define
class DocumentOperation:
    """
    Attributes:
        id (str): id of the operation
        status (DocumentOperationStatus): how far it is
        done (int): documents that are ready to be stored; all are stored together, at the end
        total (int): documents of the call
        chunks_done (int | Unset): while it is worked on: chunks that have their vectors
        chunks_total (int | Unset): while it is worked on: chunks that need vectors; those of stored text have theirs
        error (DocumentFailure | Unset):
        result (DocumentWritten | Unset):
    """

    id: str
    status: DocumentOperationStatus
    done: int
    total: int
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

        d = dict(src_dict)
        id = d.pop("id")

        status = check_document_operation_status(d.pop("status"))

        done = d.pop("done")

        total = d.pop("total")

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

        document_operation = cls(
            id=id,
            status=status,
            done=done,
            total=total,
            chunks_done=chunks_done,
            chunks_total=chunks_total,
            error=error,
            result=result,
        )

        document_operation.additional_properties = d
        return document_operation

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
