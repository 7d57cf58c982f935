from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.audit_record_actor import AuditRecordActor, check_audit_record_actor

T = TypeVar("T", bound="AuditRecord")


@_attrs_define
class AuditRecord:
    """
    Attributes:
        seq (int): number in the log; of what other organizations do there are numbers, too
        id (str):
        at (datetime.datetime):
        organization_id (None | str): whose data it was about; null: no organization's
        actor (AuditRecordActor): member: a person who signed in to the console; anonymous: a caller without a valid
            key, who was refused; cli: a command on the server's machine; system: background work
        key_id (None | str): of a member the member's id; null: no key
        action (str): name of the operation; of background work job. and the kind of job; of a command cli. and its
            name; console.sign_in, console.invitation, console.password, console.account and console.unbind for what people
            do to sign in
        target (None | str): id or name of what it was done to, an end user as a keyed hash; null: told by the action
        request_id (None | str): of the call, as in X-Request-Id and in the server's log
        status (int): HTTP status that it led to
        fields (list[str]): names of the fields that the request set
        previous (str): hash of the record before
        hash_ (str): SHA-256 of this record
    """

    seq: int
    id: str
    at: datetime.datetime
    organization_id: None | str
    actor: AuditRecordActor
    key_id: None | str
    action: str
    target: None | str
    request_id: None | str
    status: int
    fields: list[str]
    previous: str
    hash_: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        seq = self.seq

        id = self.id

        at = self.at.isoformat()

        organization_id: None | str
        organization_id = self.organization_id

        actor: str = self.actor

        key_id: None | str
        key_id = self.key_id

        action = self.action

        target: None | str
        target = self.target

        request_id: None | str
        request_id = self.request_id

        status = self.status

        fields = self.fields

        previous = self.previous

        hash_ = self.hash_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "seq": seq,
                "id": id,
                "at": at,
                "organization_id": organization_id,
                "actor": actor,
                "key_id": key_id,
                "action": action,
                "target": target,
                "request_id": request_id,
                "status": status,
                "fields": fields,
                "previous": previous,
                "hash": hash_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        seq = d.pop("seq")

        id = d.pop("id")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        def _parse_organization_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        organization_id = _parse_organization_id(d.pop("organization_id"))

        actor = check_audit_record_actor(d.pop("actor"))

        def _parse_key_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        key_id = _parse_key_id(d.pop("key_id"))

        action = d.pop("action")

        def _parse_target(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        target = _parse_target(d.pop("target"))

        def _parse_request_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        request_id = _parse_request_id(d.pop("request_id"))

        status = d.pop("status")

        fields = cast(list[str], d.pop("fields"))

        previous = d.pop("previous")

        hash_ = d.pop("hash")

        audit_record = cls(
            seq=seq,
            id=id,
            at=at,
            organization_id=organization_id,
            actor=actor,
            key_id=key_id,
            action=action,
            target=target,
            request_id=request_id,
            status=status,
            fields=fields,
            previous=previous,
            hash_=hash_,
        )

        audit_record.additional_properties = d
        return audit_record

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
