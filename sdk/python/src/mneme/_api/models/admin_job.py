from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.admin_job_status import AdminJobStatus, check_admin_job_status

if TYPE_CHECKING:
    from ..models.admin_job_error import AdminJobError


T = TypeVar("T", bound="AdminJob")


@_attrs_define
class AdminJob:
    """
    Attributes:
        id (str):
        organization_id (str):
        kind (str): what it does, such as documents.write
        namespace (None | str): name of the namespace that it works on; null: it works on an end user's memories, or a
            whole organization
        integration (None | str): id of the end user's integration; null: it works on a namespace
        end_user_id (None | str): whose memories it works on; null: it works on a namespace
        status (AdminJobStatus):
        cancelling (bool): it was asked to end early, and has not ended yet
        done (int): progress, such as documents stored
        total (int): what done is when all is done
        tries (int): attempts begun
        next_attempt (datetime.datetime | None): when it is tried again; null: no attempt was put off
        error (AdminJobError | None): why it failed or was cancelled
        created_at (datetime.datetime):
        started_at (datetime.datetime | None): of the first attempt
        updated_at (datetime.datetime):
        finished_at (datetime.datetime | None): null: it has not ended
        expires_at (datetime.datetime | None): until when an ended job can be read
    """

    id: str
    organization_id: str
    kind: str
    namespace: None | str
    integration: None | str
    end_user_id: None | str
    status: AdminJobStatus
    cancelling: bool
    done: int
    total: int
    tries: int
    next_attempt: datetime.datetime | None
    error: AdminJobError | None
    created_at: datetime.datetime
    started_at: datetime.datetime | None
    updated_at: datetime.datetime
    finished_at: datetime.datetime | None
    expires_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.admin_job_error import AdminJobError

        id = self.id

        organization_id = self.organization_id

        kind = self.kind

        namespace: None | str
        namespace = self.namespace

        integration: None | str
        integration = self.integration

        end_user_id: None | str
        end_user_id = self.end_user_id

        status: str = self.status

        cancelling = self.cancelling

        done = self.done

        total = self.total

        tries = self.tries

        next_attempt: None | str
        if isinstance(self.next_attempt, datetime.datetime):
            next_attempt = self.next_attempt.isoformat()
        else:
            next_attempt = self.next_attempt

        error: dict[str, Any] | None
        if isinstance(self.error, AdminJobError):
            error = self.error.to_dict()
        else:
            error = self.error

        created_at = self.created_at.isoformat()

        started_at: None | str
        if isinstance(self.started_at, datetime.datetime):
            started_at = self.started_at.isoformat()
        else:
            started_at = self.started_at

        updated_at = self.updated_at.isoformat()

        finished_at: None | str
        if isinstance(self.finished_at, datetime.datetime):
            finished_at = self.finished_at.isoformat()
        else:
            finished_at = self.finished_at

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "organization_id": organization_id,
                "kind": kind,
                "namespace": namespace,
                "integration": integration,
                "end_user_id": end_user_id,
                "status": status,
                "cancelling": cancelling,
                "done": done,
                "total": total,
                "tries": tries,
                "next_attempt": next_attempt,
                "error": error,
                "created_at": created_at,
                "started_at": started_at,
                "updated_at": updated_at,
                "finished_at": finished_at,
                "expires_at": expires_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.admin_job_error import AdminJobError

        d = dict(src_dict)
        id = d.pop("id")

        organization_id = d.pop("organization_id")

        kind = d.pop("kind")

        def _parse_namespace(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        namespace = _parse_namespace(d.pop("namespace"))

        def _parse_integration(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        integration = _parse_integration(d.pop("integration"))

        def _parse_end_user_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        end_user_id = _parse_end_user_id(d.pop("end_user_id"))

        status = check_admin_job_status(d.pop("status"))

        cancelling = d.pop("cancelling")

        done = d.pop("done")

        total = d.pop("total")

        tries = d.pop("tries")

        def _parse_next_attempt(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_attempt_type_0 = datetime.datetime.fromisoformat(data)

                return next_attempt_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        next_attempt = _parse_next_attempt(d.pop("next_attempt"))

        def _parse_error(data: object) -> AdminJobError | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = AdminJobError.from_dict(data)

                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AdminJobError | None, data)

        error = _parse_error(d.pop("error"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_started_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                started_at_type_0 = datetime.datetime.fromisoformat(data)

                return started_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        started_at = _parse_started_at(d.pop("started_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        def _parse_finished_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                finished_at_type_0 = datetime.datetime.fromisoformat(data)

                return finished_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        finished_at = _parse_finished_at(d.pop("finished_at"))

        def _parse_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))

        admin_job = cls(
            id=id,
            organization_id=organization_id,
            kind=kind,
            namespace=namespace,
            integration=integration,
            end_user_id=end_user_id,
            status=status,
            cancelling=cancelling,
            done=done,
            total=total,
            tries=tries,
            next_attempt=next_attempt,
            error=error,
            created_at=created_at,
            started_at=started_at,
            updated_at=updated_at,
            finished_at=finished_at,
            expires_at=expires_at,
        )

        admin_job.additional_properties = d
        return admin_job

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
