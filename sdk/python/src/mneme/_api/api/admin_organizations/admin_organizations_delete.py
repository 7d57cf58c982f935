from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.admin_organization_deletion import AdminOrganizationDeletion
from ...types import UNSET, Response, Unset


def _get_kwargs(
    org: str,
    *,
    name: str,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    params: dict[str, Any] = {}

    params["name"] = name

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/admin/v1/organizations/{org}".format(
            org=quote(str(org), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AdminOrganizationDeletion | None:
    if response.status_code == 200:
        response_200 = AdminOrganizationDeletion.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = AdminOrganizationDeletion.from_dict(response.json())

        return response_202

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AdminOrganizationDeletion]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    org: str,
    *,
    client: AuthenticatedClient,
    name: str,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AdminOrganizationDeletion]:
    """Delete an organization with everything in it

     It cannot be undone. Keys are refused at once; namespaces, end users, integrations and keys are
    removed in the background, which goes on after a crash. Call it again, by the id, to see how far it
    is: 202 while it goes on, 200 with the counts of what was removed when nothing is left, which can be
    read for a day. An organization that is not there answers 200. The default organization stays (409),
    and so does one with a live key that administers all.

    Rate class: `admin`.

    Args:
        org (str):
        name (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AdminOrganizationDeletion]
    """

    kwargs = _get_kwargs(
        org=org,
        name=name,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    org: str,
    *,
    client: AuthenticatedClient,
    name: str,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AdminOrganizationDeletion | None:
    """Delete an organization with everything in it

     It cannot be undone. Keys are refused at once; namespaces, end users, integrations and keys are
    removed in the background, which goes on after a crash. Call it again, by the id, to see how far it
    is: 202 while it goes on, 200 with the counts of what was removed when nothing is left, which can be
    read for a day. An organization that is not there answers 200. The default organization stays (409),
    and so does one with a live key that administers all.

    Rate class: `admin`.

    Args:
        org (str):
        name (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AdminOrganizationDeletion
    """

    return sync_detailed(
        org=org,
        client=client,
        name=name,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    org: str,
    *,
    client: AuthenticatedClient,
    name: str,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AdminOrganizationDeletion]:
    """Delete an organization with everything in it

     It cannot be undone. Keys are refused at once; namespaces, end users, integrations and keys are
    removed in the background, which goes on after a crash. Call it again, by the id, to see how far it
    is: 202 while it goes on, 200 with the counts of what was removed when nothing is left, which can be
    read for a day. An organization that is not there answers 200. The default organization stays (409),
    and so does one with a live key that administers all.

    Rate class: `admin`.

    Args:
        org (str):
        name (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AdminOrganizationDeletion]
    """

    kwargs = _get_kwargs(
        org=org,
        name=name,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    org: str,
    *,
    client: AuthenticatedClient,
    name: str,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AdminOrganizationDeletion | None:
    """Delete an organization with everything in it

     It cannot be undone. Keys are refused at once; namespaces, end users, integrations and keys are
    removed in the background, which goes on after a crash. Call it again, by the id, to see how far it
    is: 202 while it goes on, 200 with the counts of what was removed when nothing is left, which can be
    read for a day. An organization that is not there answers 200. The default organization stays (409),
    and so does one with a live key that administers all.

    Rate class: `admin`.

    Args:
        org (str):
        name (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AdminOrganizationDeletion
    """

    return (
        await asyncio_detailed(
            org=org,
            client=client,
            name=name,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
