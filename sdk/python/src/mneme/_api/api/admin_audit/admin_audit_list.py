import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.admin_audit_list_actor import (
    AdminAuditListActor,
)
from ...models.audit_records import AuditRecords
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    organization: str | Unset = UNSET,
    actor: AdminAuditListActor | Unset = UNSET,
    key_id: str | Unset = UNSET,
    action: str | Unset = UNSET,
    target: str | Unset = UNSET,
    end_user_id: str | Unset = UNSET,
    request_id: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    refused: bool | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["cursor"] = cursor

    params["organization"] = organization

    json_actor: str | Unset = UNSET
    if not isinstance(actor, Unset):
        json_actor = actor

    params["actor"] = json_actor

    params["key_id"] = key_id

    params["action"] = action

    params["target"] = target

    params["end_user_id"] = end_user_id

    params["request_id"] = request_id

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_until: str | Unset = UNSET
    if not isinstance(until, Unset):
        json_until = until.isoformat()
    params["until"] = json_until

    params["refused"] = refused

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/admin/v1/audit",
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AuditRecords | None:
    if response.status_code == 200:
        response_200 = AuditRecords.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AuditRecords]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    organization: str | Unset = UNSET,
    actor: AdminAuditListActor | Unset = UNSET,
    key_id: str | Unset = UNSET,
    action: str | Unset = UNSET,
    target: str | Unset = UNSET,
    end_user_id: str | Unset = UNSET,
    request_id: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    refused: bool | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AuditRecords]:
    """List what was done, newest first

     What the records cover is configured (`audit.level`). They hold names of fields, ids and names of
    namespaces: no text, no value and no secret. An end user stands in them as a keyed hash. A key of
    one organization sees that one's records. What was done before the call is in the answer.

    Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        organization (str | Unset):
        actor (AdminAuditListActor | Unset):
        key_id (str | Unset):
        action (str | Unset):
        target (str | Unset):
        end_user_id (str | Unset):
        request_id (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        refused (bool | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditRecords]
    """

    kwargs = _get_kwargs(
        limit=limit,
        cursor=cursor,
        organization=organization,
        actor=actor,
        key_id=key_id,
        action=action,
        target=target,
        end_user_id=end_user_id,
        request_id=request_id,
        since=since,
        until=until,
        refused=refused,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    organization: str | Unset = UNSET,
    actor: AdminAuditListActor | Unset = UNSET,
    key_id: str | Unset = UNSET,
    action: str | Unset = UNSET,
    target: str | Unset = UNSET,
    end_user_id: str | Unset = UNSET,
    request_id: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    refused: bool | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AuditRecords | None:
    """List what was done, newest first

     What the records cover is configured (`audit.level`). They hold names of fields, ids and names of
    namespaces: no text, no value and no secret. An end user stands in them as a keyed hash. A key of
    one organization sees that one's records. What was done before the call is in the answer.

    Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        organization (str | Unset):
        actor (AdminAuditListActor | Unset):
        key_id (str | Unset):
        action (str | Unset):
        target (str | Unset):
        end_user_id (str | Unset):
        request_id (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        refused (bool | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditRecords
    """

    return sync_detailed(
        client=client,
        limit=limit,
        cursor=cursor,
        organization=organization,
        actor=actor,
        key_id=key_id,
        action=action,
        target=target,
        end_user_id=end_user_id,
        request_id=request_id,
        since=since,
        until=until,
        refused=refused,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    organization: str | Unset = UNSET,
    actor: AdminAuditListActor | Unset = UNSET,
    key_id: str | Unset = UNSET,
    action: str | Unset = UNSET,
    target: str | Unset = UNSET,
    end_user_id: str | Unset = UNSET,
    request_id: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    refused: bool | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AuditRecords]:
    """List what was done, newest first

     What the records cover is configured (`audit.level`). They hold names of fields, ids and names of
    namespaces: no text, no value and no secret. An end user stands in them as a keyed hash. A key of
    one organization sees that one's records. What was done before the call is in the answer.

    Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        organization (str | Unset):
        actor (AdminAuditListActor | Unset):
        key_id (str | Unset):
        action (str | Unset):
        target (str | Unset):
        end_user_id (str | Unset):
        request_id (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        refused (bool | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditRecords]
    """

    kwargs = _get_kwargs(
        limit=limit,
        cursor=cursor,
        organization=organization,
        actor=actor,
        key_id=key_id,
        action=action,
        target=target,
        end_user_id=end_user_id,
        request_id=request_id,
        since=since,
        until=until,
        refused=refused,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    organization: str | Unset = UNSET,
    actor: AdminAuditListActor | Unset = UNSET,
    key_id: str | Unset = UNSET,
    action: str | Unset = UNSET,
    target: str | Unset = UNSET,
    end_user_id: str | Unset = UNSET,
    request_id: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    refused: bool | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AuditRecords | None:
    """List what was done, newest first

     What the records cover is configured (`audit.level`). They hold names of fields, ids and names of
    namespaces: no text, no value and no secret. An end user stands in them as a keyed hash. A key of
    one organization sees that one's records. What was done before the call is in the answer.

    Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        organization (str | Unset):
        actor (AdminAuditListActor | Unset):
        key_id (str | Unset):
        action (str | Unset):
        target (str | Unset):
        end_user_id (str | Unset):
        request_id (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        refused (bool | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditRecords
    """

    return (
        await asyncio_detailed(
            client=client,
            limit=limit,
            cursor=cursor,
            organization=organization,
            actor=actor,
            key_id=key_id,
            action=action,
            target=target,
            end_user_id=end_user_id,
            request_id=request_id,
            since=since,
            until=until,
            refused=refused,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
