from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.admin_reindexing_status import (
    AdminReindexingStatus,
    check_admin_reindexing_status,
)

if TYPE_CHECKING:
    from ..models.admin_reindex_failed import AdminReindexFailed
    from ..models.reindex_comparison import ReindexComparison


T = TypeVar("T", bound="AdminReindexing")


@_attrs_define
class AdminReindexing:
    """
    Attributes:
        name (str): of the namespace, or the end user's id
        status (AdminReindexingStatus): held: built and not served, as was asked for or because the comparison fell
            short; unchanged: the vectors were of the configured models already
        done (int): documents, or memories, encoded
        total (int): documents to encode
        documents (int): documents stored with new vectors, once it has succeeded
        chunks (int): their chunks
        error (AdminReindexFailed | None): why it failed; what is served is then as it was
        comparison (None | ReindexComparison): what the same queries find in what was served and in what was made; null:
            not compared, as the model before is not loaded, or not yet
    """

    name: str
    status: AdminReindexingStatus
    done: int
    total: int
    documents: int
    chunks: int
    error: AdminReindexFailed | None
    comparison: None | ReindexComparison
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.admin_reindex_failed import AdminReindexFailed
        from ..models.reindex_comparison import ReindexComparison

        name = self.name

        status: str = self.status

        done = self.done

        total = self.total

        documents = self.documents

        chunks = self.chunks

        error: dict[str, Any] | None
        if isinstance(self.error, AdminReindexFailed):
            error = self.error.to_dict()
        else:
            error = self.error

        comparison: dict[str, Any] | None
        if isinstance(self.comparison, ReindexComparison):
            comparison = self.comparison.to_dict()
        else:
            comparison = self.comparison

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "status": status,
                "done": done,
                "total": total,
                "documents": documents,
                "chunks": chunks,
                "error": error,
                "comparison": comparison,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.admin_reindex_failed import AdminReindexFailed
        from ..models.reindex_comparison import ReindexComparison

        d = dict(src_dict)
        name = d.pop("name")

        status = check_admin_reindexing_status(d.pop("status"))

        done = d.pop("done")

        total = d.pop("total")

        documents = d.pop("documents")

        chunks = d.pop("chunks")

        def _parse_error(data: object) -> AdminReindexFailed | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = AdminReindexFailed.from_dict(data)

                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AdminReindexFailed | None, data)

        error = _parse_error(d.pop("error"))

        def _parse_comparison(data: object) -> None | ReindexComparison:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                comparison_type_0 = ReindexComparison.from_dict(data)

                return comparison_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReindexComparison, data)

        comparison = _parse_comparison(d.pop("comparison"))

        admin_reindexing = cls(
            name=name,
            status=status,
            done=done,
            total=total,
            documents=documents,
            chunks=chunks,
            error=error,
            comparison=comparison,
        )

        admin_reindexing.additional_properties = d
        return admin_reindexing

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
