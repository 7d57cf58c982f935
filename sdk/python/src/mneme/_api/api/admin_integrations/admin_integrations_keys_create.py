from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.admin_create_integration_key import AdminCreateIntegrationKey
from ...models.admin_issued_key import AdminIssuedKey
from ...types import UNSET, Response, Unset


def _get_kwargs(
    org: str,
    integration: str,
    *,
    body: AdminCreateIntegrationKey,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/admin/v1/organizations/{org}/integrations/{integration}/keys".format(
            org=quote(str(org), safe=""),
            integration=quote(str(integration), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AdminIssuedKey | None:
    if response.status_code == 200:
        response_200 = AdminIssuedKey.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AdminIssuedKey]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    org: str,
    integration: str,
    *,
    client: AuthenticatedClient,
    body: AdminCreateIntegrationKey,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AdminIssuedKey]:
    """Make a key of an integration; its secret is in this answer alone

     Rate class: `admin`.

    Args:
        org (str):
        integration (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (AdminCreateIntegrationKey):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AdminIssuedKey]
    """

    kwargs = _get_kwargs(
        org=org,
        integration=integration,
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    org: str,
    integration: str,
    *,
    client: AuthenticatedClient,
    body: AdminCreateIntegrationKey,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AdminIssuedKey | None:
    """Make a key of an integration; its secret is in this answer alone

     Rate class: `admin`.

    Args:
        org (str):
        integration (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (AdminCreateIntegrationKey):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AdminIssuedKey
    """

    return sync_detailed(
        org=org,
        integration=integration,
        client=client,
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    org: str,
    integration: str,
    *,
    client: AuthenticatedClient,
    body: AdminCreateIntegrationKey,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AdminIssuedKey]:
    """Make a key of an integration; its secret is in this answer alone

     Rate class: `admin`.

    Args:
        org (str):
        integration (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (AdminCreateIntegrationKey):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AdminIssuedKey]
    """

    kwargs = _get_kwargs(
        org=org,
        integration=integration,
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    org: str,
    integration: str,
    *,
    client: AuthenticatedClient,
    body: AdminCreateIntegrationKey,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AdminIssuedKey | None:
    """Make a key of an integration; its secret is in this answer alone

     Rate class: `admin`.

    Args:
        org (str):
        integration (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (AdminCreateIntegrationKey):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AdminIssuedKey
    """

    return (
        await asyncio_detailed(
            org=org,
            integration=integration,
            client=client,
            body=body,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
