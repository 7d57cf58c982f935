from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.admin_organization_deletion_status import (
    AdminOrganizationDeletionStatus,
    check_admin_organization_deletion_status,
)

if TYPE_CHECKING:
    from ..models.admin_organization_removed import AdminOrganizationRemoved


T = TypeVar("T", bound="AdminOrganizationDeletion")


@_attrs_define
class AdminOrganizationDeletion:
    """
    Attributes:
        id (None | str): id of the organization; null: there is none of that name
        job_id (None | str): the job that deletes it; null: there is no organization
        status (AdminOrganizationDeletionStatus): deleted: nothing of it is left; absent: there was nothing to delete
        done (int): namespaces and end users removed
        total (int): what done is when all are; 0 until they are counted
        deleted (AdminOrganizationRemoved):
        deleted_at (datetime.datetime | None): when nothing was left
    """

    id: None | str
    job_id: None | str
    status: AdminOrganizationDeletionStatus
    done: int
    total: int
    deleted: AdminOrganizationRemoved
    deleted_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id: None | str
        id = self.id

        job_id: None | str
        job_id = self.job_id

        status: str = self.status

        done = self.done

        total = self.total

        deleted = self.deleted.to_dict()

        deleted_at: None | str
        if isinstance(self.deleted_at, datetime.datetime):
            deleted_at = self.deleted_at.isoformat()
        else:
            deleted_at = self.deleted_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "job_id": job_id,
                "status": status,
                "done": done,
                "total": total,
                "deleted": deleted,
                "deleted_at": deleted_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.admin_organization_removed import AdminOrganizationRemoved

        d = dict(src_dict)

        def _parse_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        id = _parse_id(d.pop("id"))

        def _parse_job_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        job_id = _parse_job_id(d.pop("job_id"))

        status = check_admin_organization_deletion_status(d.pop("status"))

        done = d.pop("done")

        total = d.pop("total")

        deleted = AdminOrganizationRemoved.from_dict(d.pop("deleted"))

        def _parse_deleted_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                deleted_at_type_0 = datetime.datetime.fromisoformat(data)

                return deleted_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        deleted_at = _parse_deleted_at(d.pop("deleted_at"))

        admin_organization_deletion = cls(
            id=id,
            job_id=job_id,
            status=status,
            done=done,
            total=total,
            deleted=deleted,
            deleted_at=deleted_at,
        )

        admin_organization_deletion.additional_properties = d
        return admin_organization_deletion

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
