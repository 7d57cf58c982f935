import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.usage_all_kept import UsageAllKept
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    organization: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    integration_id: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
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

    params["namespace"] = namespace

    params["integration_id"] = integration_id

    json_at: str | Unset = UNSET
    if not isinstance(at, Unset):
        json_at = at.isoformat()
    params["at"] = json_at

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/admin/v1/usage/bytes",
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> UsageAllKept | None:
    if response.status_code == 200:
        response_200 = UsageAllKept.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[UsageAllKept]:
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
    namespace: str | Unset = UNSET,
    integration_id: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[UsageAllKept]:
    """List how much text is kept, by namespace and integration

     With `at` as it was at the end of that hour. It is read from what is stored within seconds of a
    change.

    Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        organization (str | Unset):
        namespace (str | Unset):
        integration_id (str | Unset):
        at (datetime.datetime | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[UsageAllKept]
    """

    kwargs = _get_kwargs(
        limit=limit,
        cursor=cursor,
        organization=organization,
        namespace=namespace,
        integration_id=integration_id,
        at=at,
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
    namespace: str | Unset = UNSET,
    integration_id: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> UsageAllKept | None:
    """List how much text is kept, by namespace and integration

     With `at` as it was at the end of that hour. It is read from what is stored within seconds of a
    change.

    Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        organization (str | Unset):
        namespace (str | Unset):
        integration_id (str | Unset):
        at (datetime.datetime | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        UsageAllKept
    """

    return sync_detailed(
        client=client,
        limit=limit,
        cursor=cursor,
        organization=organization,
        namespace=namespace,
        integration_id=integration_id,
        at=at,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    organization: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    integration_id: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[UsageAllKept]:
    """List how much text is kept, by namespace and integration

     With `at` as it was at the end of that hour. It is read from what is stored within seconds of a
    change.

    Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        organization (str | Unset):
        namespace (str | Unset):
        integration_id (str | Unset):
        at (datetime.datetime | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[UsageAllKept]
    """

    kwargs = _get_kwargs(
        limit=limit,
        cursor=cursor,
        organization=organization,
        namespace=namespace,
        integration_id=integration_id,
        at=at,
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
    namespace: str | Unset = UNSET,
    integration_id: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> UsageAllKept | None:
    """List how much text is kept, by namespace and integration

     With `at` as it was at the end of that hour. It is read from what is stored within seconds of a
    change.

    Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        organization (str | Unset):
        namespace (str | Unset):
        integration_id (str | Unset):
        at (datetime.datetime | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        UsageAllKept
    """

    return (
        await asyncio_detailed(
            client=client,
            limit=limit,
            cursor=cursor,
            organization=organization,
            namespace=namespace,
            integration_id=integration_id,
            at=at,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
