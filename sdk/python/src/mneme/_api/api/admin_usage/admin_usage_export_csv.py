import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.admin_usage_export_csv_by import (
    AdminUsageExportCsvBy,
)
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    organization: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    integration_id: str | Unset = UNSET,
    key_id: str | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    by: AdminUsageExportCsvBy | Unset = "total",
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

    params["namespace"] = namespace

    params["integration_id"] = integration_id

    params["key_id"] = key_id

    json_from_: str | Unset = UNSET
    if not isinstance(from_, Unset):
        json_from_ = from_.isoformat()
    params["from"] = json_from_

    json_to: str | Unset = UNSET
    if not isinstance(to, Unset):
        json_to = to.isoformat()
    params["to"] = json_to

    json_by: str | Unset = UNSET
    if not isinstance(by, Unset):
        json_by = by

    params["by"] = json_by

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/admin/v1/usage.csv",
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
    namespace: str | Unset = UNSET,
    integration_id: str | Unset = UNSET,
    key_id: str | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    by: AdminUsageExportCsvBy | Unset = "total",
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[str]:
    """Export what was done as CSV

     Comma-separated values (RFC 4180) with a line of names first, in the order of the list.

    Rate class: `admin`.

    Args:
        organization (str | Unset):
        namespace (str | Unset):
        integration_id (str | Unset):
        key_id (str | Unset):
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        by (AdminUsageExportCsvBy | Unset):  Default: 'total'.
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
        namespace=namespace,
        integration_id=integration_id,
        key_id=key_id,
        from_=from_,
        to=to,
        by=by,
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
    namespace: str | Unset = UNSET,
    integration_id: str | Unset = UNSET,
    key_id: str | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    by: AdminUsageExportCsvBy | Unset = "total",
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> str | None:
    """Export what was done as CSV

     Comma-separated values (RFC 4180) with a line of names first, in the order of the list.

    Rate class: `admin`.

    Args:
        organization (str | Unset):
        namespace (str | Unset):
        integration_id (str | Unset):
        key_id (str | Unset):
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        by (AdminUsageExportCsvBy | Unset):  Default: 'total'.
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
        namespace=namespace,
        integration_id=integration_id,
        key_id=key_id,
        from_=from_,
        to=to,
        by=by,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    organization: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    integration_id: str | Unset = UNSET,
    key_id: str | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    by: AdminUsageExportCsvBy | Unset = "total",
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[str]:
    """Export what was done as CSV

     Comma-separated values (RFC 4180) with a line of names first, in the order of the list.

    Rate class: `admin`.

    Args:
        organization (str | Unset):
        namespace (str | Unset):
        integration_id (str | Unset):
        key_id (str | Unset):
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        by (AdminUsageExportCsvBy | Unset):  Default: 'total'.
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
        namespace=namespace,
        integration_id=integration_id,
        key_id=key_id,
        from_=from_,
        to=to,
        by=by,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    organization: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    integration_id: str | Unset = UNSET,
    key_id: str | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    by: AdminUsageExportCsvBy | Unset = "total",
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> str | None:
    """Export what was done as CSV

     Comma-separated values (RFC 4180) with a line of names first, in the order of the list.

    Rate class: `admin`.

    Args:
        organization (str | Unset):
        namespace (str | Unset):
        integration_id (str | Unset):
        key_id (str | Unset):
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        by (AdminUsageExportCsvBy | Unset):  Default: 'total'.
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
            namespace=namespace,
            integration_id=integration_id,
            key_id=key_id,
            from_=from_,
            to=to,
            by=by,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
