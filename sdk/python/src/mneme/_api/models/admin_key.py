from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.admin_key_kind import AdminKeyKind, check_admin_key_kind
from ..models.admin_key_state import AdminKeyState, check_admin_key_state

if TYPE_CHECKING:
    from ..models.admin_key_limits import AdminKeyLimits


T = TypeVar("T", bound="AdminKey")


@_attrs_define
class AdminKey:
    """
    Attributes:
        id (str): id of the key
        organization_id (str): id of its organization
        name (str): for people
        kind (AdminKeyKind): what it is for
        prefix (str): how the secret begins
        last_four (str): how it ends
        read_only (bool): whether it is refused where data would change
        namespace (None | str): the only one that a service key reaches; null: all. For another key, the one whose
            passages its blocks of context may have; null: none
        source (None | str): id of the only source the key reaches; null: all
        default_namespace (None | str): of calls that name none
        scopes (list[str]): rights of an integration's key
        integration (None | str): id of the integration that it belongs to
        integration_name (None | str): name of that integration
        end_user_id (None | str): the only one a personal key reaches
        limits (AdminKeyLimits): of the key itself, by rate class
        created_by (None | str): id of the key or member that made it, cli (the command line) or bootstrap (the program,
            for commands on its machine); null: not known
        created_at (datetime.datetime):
        last_used_at (datetime.datetime | None): about half a minute late
        expires_at (datetime.datetime | None): null: never
        revoked_at (datetime.datetime | None): null: it was not
        state (AdminKeyState): whether it works
    """

    id: str
    organization_id: str
    name: str
    kind: AdminKeyKind
    prefix: str
    last_four: str
    read_only: bool
    namespace: None | str
    source: None | str
    default_namespace: None | str
    scopes: list[str]
    integration: None | str
    integration_name: None | str
    end_user_id: None | str
    limits: AdminKeyLimits
    created_by: None | str
    created_at: datetime.datetime
    last_used_at: datetime.datetime | None
    expires_at: datetime.datetime | None
    revoked_at: datetime.datetime | None
    state: AdminKeyState
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        organization_id = self.organization_id

        name = self.name

        kind: str = self.kind

        prefix = self.prefix

        last_four = self.last_four

        read_only = self.read_only

        namespace: None | str
        namespace = self.namespace

        source: None | str
        source = self.source

        default_namespace: None | str
        default_namespace = self.default_namespace

        scopes = self.scopes

        integration: None | str
        integration = self.integration

        integration_name: None | str
        integration_name = self.integration_name

        end_user_id: None | str
        end_user_id = self.end_user_id

        limits = self.limits.to_dict()

        created_by: None | str
        created_by = self.created_by

        created_at = self.created_at.isoformat()

        last_used_at: None | str
        if isinstance(self.last_used_at, datetime.datetime):
            last_used_at = self.last_used_at.isoformat()
        else:
            last_used_at = self.last_used_at

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        revoked_at: None | str
        if isinstance(self.revoked_at, datetime.datetime):
            revoked_at = self.revoked_at.isoformat()
        else:
            revoked_at = self.revoked_at

        state: str = self.state

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "organization_id": organization_id,
                "name": name,
                "kind": kind,
                "prefix": prefix,
                "last_four": last_four,
                "read_only": read_only,
                "namespace": namespace,
                "source": source,
                "default_namespace": default_namespace,
                "scopes": scopes,
                "integration": integration,
                "integration_name": integration_name,
                "end_user_id": end_user_id,
                "limits": limits,
                "created_by": created_by,
                "created_at": created_at,
                "last_used_at": last_used_at,
                "expires_at": expires_at,
                "revoked_at": revoked_at,
                "state": state,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.admin_key_limits import AdminKeyLimits

        d = dict(src_dict)
        id = d.pop("id")

        organization_id = d.pop("organization_id")

        name = d.pop("name")

        kind = check_admin_key_kind(d.pop("kind"))

        prefix = d.pop("prefix")

        last_four = d.pop("last_four")

        read_only = d.pop("read_only")

        def _parse_namespace(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        namespace = _parse_namespace(d.pop("namespace"))

        def _parse_source(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        source = _parse_source(d.pop("source"))

        def _parse_default_namespace(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        default_namespace = _parse_default_namespace(d.pop("default_namespace"))

        scopes = cast(list[str], d.pop("scopes"))

        def _parse_integration(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        integration = _parse_integration(d.pop("integration"))

        def _parse_integration_name(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        integration_name = _parse_integration_name(d.pop("integration_name"))

        def _parse_end_user_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        end_user_id = _parse_end_user_id(d.pop("end_user_id"))

        limits = AdminKeyLimits.from_dict(d.pop("limits"))

        def _parse_created_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        created_by = _parse_created_by(d.pop("created_by"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_last_used_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_used_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_used_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_used_at = _parse_last_used_at(d.pop("last_used_at"))

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

        def _parse_revoked_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                revoked_at_type_0 = datetime.datetime.fromisoformat(data)

                return revoked_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        revoked_at = _parse_revoked_at(d.pop("revoked_at"))

        state = check_admin_key_state(d.pop("state"))

        admin_key = cls(
            id=id,
            organization_id=organization_id,
            name=name,
            kind=kind,
            prefix=prefix,
            last_four=last_four,
            read_only=read_only,
            namespace=namespace,
            source=source,
            default_namespace=default_namespace,
            scopes=scopes,
            integration=integration,
            integration_name=integration_name,
            end_user_id=end_user_id,
            limits=limits,
            created_by=created_by,
            created_at=created_at,
            last_used_at=last_used_at,
            expires_at=expires_at,
            revoked_at=revoked_at,
            state=state,
        )

        admin_key.additional_properties = d
        return admin_key

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
