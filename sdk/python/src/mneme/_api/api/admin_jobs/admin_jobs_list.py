from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.admin_jobs import AdminJobs
from ...models.admin_jobs_list_status import (
    AdminJobsListStatus,
)
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    organization: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    status: AdminJobsListStatus | Unset = UNSET,
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

    params["kind"] = kind

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status

    params["status"] = json_status

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/admin/v1/jobs",
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AdminJobs | None:
    if response.status_code == 200:
        response_200 = AdminJobs.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AdminJobs]:
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
    kind: str | Unset = UNSET,
    status: AdminJobsListStatus | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AdminJobs]:
    """List background jobs, newest first

     Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        organization (str | Unset):
        kind (str | Unset):
        status (AdminJobsListStatus | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AdminJobs]
    """

    kwargs = _get_kwargs(
        limit=limit,
        cursor=cursor,
        organization=organization,
        kind=kind,
        status=status,
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
    kind: str | Unset = UNSET,
    status: AdminJobsListStatus | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AdminJobs | None:
    """List background jobs, newest first

     Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        organization (str | Unset):
        kind (str | Unset):
        status (AdminJobsListStatus | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AdminJobs
    """

    return sync_detailed(
        client=client,
        limit=limit,
        cursor=cursor,
        organization=organization,
        kind=kind,
        status=status,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    organization: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    status: AdminJobsListStatus | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AdminJobs]:
    """List background jobs, newest first

     Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        organization (str | Unset):
        kind (str | Unset):
        status (AdminJobsListStatus | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AdminJobs]
    """

    kwargs = _get_kwargs(
        limit=limit,
        cursor=cursor,
        organization=organization,
        kind=kind,
        status=status,
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
    kind: str | Unset = UNSET,
    status: AdminJobsListStatus | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AdminJobs | None:
    """List background jobs, newest first

     Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        organization (str | Unset):
        kind (str | Unset):
        status (AdminJobsListStatus | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AdminJobs
    """

    return (
        await asyncio_detailed(
            client=client,
            limit=limit,
            cursor=cursor,
            organization=organization,
            kind=kind,
            status=status,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
