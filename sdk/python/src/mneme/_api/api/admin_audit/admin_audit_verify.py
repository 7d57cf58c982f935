from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.audit_verification import AuditVerification
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    known: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    params: dict[str, Any] = {}

    params["known"] = known

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/admin/v1/audit/verification",
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AuditVerification | None:
    if response.status_code == 200:
        response_200 = AuditVerification.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AuditVerification]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    known: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AuditVerification]:
    """Verify that no record was removed, changed or put in

     Each record holds the hash of the one before; all are read. Who can write to the database could make
    a new log with hashes that fit: keep `last` and `hash` of an answer elsewhere, and give them to a
    later call as `known`. For keys of all organizations.

    Rate class: `admin`.

    Args:
        known (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditVerification]
    """

    kwargs = _get_kwargs(
        known=known,
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
    known: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AuditVerification | None:
    """Verify that no record was removed, changed or put in

     Each record holds the hash of the one before; all are read. Who can write to the database could make
    a new log with hashes that fit: keep `last` and `hash` of an answer elsewhere, and give them to a
    later call as `known`. For keys of all organizations.

    Rate class: `admin`.

    Args:
        known (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditVerification
    """

    return sync_detailed(
        client=client,
        known=known,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    known: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AuditVerification]:
    """Verify that no record was removed, changed or put in

     Each record holds the hash of the one before; all are read. Who can write to the database could make
    a new log with hashes that fit: keep `last` and `hash` of an answer elsewhere, and give them to a
    later call as `known`. For keys of all organizations.

    Rate class: `admin`.

    Args:
        known (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditVerification]
    """

    kwargs = _get_kwargs(
        known=known,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    known: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AuditVerification | None:
    """Verify that no record was removed, changed or put in

     Each record holds the hash of the one before; all are read. Who can write to the database could make
    a new log with hashes that fit: keep `last` and `hash` of an answer elsewhere, and give them to a
    later call as `known`. For keys of all organizations.

    Rate class: `admin`.

    Args:
        known (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditVerification
    """

    return (
        await asyncio_detailed(
            client=client,
            known=known,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
