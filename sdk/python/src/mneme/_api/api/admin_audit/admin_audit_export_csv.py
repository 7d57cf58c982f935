import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.admin_audit_export_csv_actor import (
    AdminAuditExportCsvActor,
)
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    organization: str | Unset = UNSET,
    actor: AdminAuditExportCsvActor | Unset = UNSET,
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
        "url": "/admin/v1/audit.csv",
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> str | None:
    if response.status_code == 200:
        response_200 = response.text
        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[str]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    organization: str | Unset = UNSET,
    actor: AdminAuditExportCsvActor | Unset = UNSET,
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
) -> Response[str]:
    """Export what was done as CSV, oldest first

     Comma-separated values (RFC 4180) with a line of names first. Names of fields are separated by
    spaces.

    Rate class: `admin`.

    Args:
        organization (str | Unset):
        actor (AdminAuditExportCsvActor | Unset):
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
        Response[str]
    """

    kwargs = _get_kwargs(
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
    organization: str | Unset = UNSET,
    actor: AdminAuditExportCsvActor | Unset = UNSET,
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
) -> str | None:
    """Export what was done as CSV, oldest first

     Comma-separated values (RFC 4180) with a line of names first. Names of fields are separated by
    spaces.

    Rate class: `admin`.

    Args:
        organization (str | Unset):
        actor (AdminAuditExportCsvActor | Unset):
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
        str
    """

    return sync_detailed(
        client=client,
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
    organization: str | Unset = UNSET,
    actor: AdminAuditExportCsvActor | Unset = UNSET,
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
) -> Response[str]:
    """Export what was done as CSV, oldest first

     Comma-separated values (RFC 4180) with a line of names first. Names of fields are separated by
    spaces.

    Rate class: `admin`.

    Args:
        organization (str | Unset):
        actor (AdminAuditExportCsvActor | Unset):
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
        Response[str]
    """

    kwargs = _get_kwargs(
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
    organization: str | Unset = UNSET,
    actor: AdminAuditExportCsvActor | Unset = UNSET,
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
) -> str | None:
    """Export what was done as CSV, oldest first

     Comma-separated values (RFC 4180) with a line of names first. Names of fields are separated by
    spaces.

    Rate class: `admin`.

    Args:
        organization (str | Unset):
        actor (AdminAuditExportCsvActor | Unset):
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
        str
    """

    return (
        await asyncio_detailed(
            client=client,
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
