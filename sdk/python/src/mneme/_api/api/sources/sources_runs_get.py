from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.source_run import SourceRun
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    run: str,
    *,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/sources/{id}/runs/{run}".format(
            id=quote(str(id), safe=""),
            run=quote(str(run), safe=""),
        ),
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> SourceRun | None:
    if response.status_code == 200:
        response_200 = SourceRun.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[SourceRun]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    run: str,
    *,
    client: AuthenticatedClient,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[SourceRun]:
    """Read a run

     Rate class: `admin`.

    Args:
        id (str):
        run (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[SourceRun]
    """

    kwargs = _get_kwargs(
        id=id,
        run=run,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    run: str,
    *,
    client: AuthenticatedClient,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> SourceRun | None:
    """Read a run

     Rate class: `admin`.

    Args:
        id (str):
        run (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        SourceRun
    """

    return sync_detailed(
        id=id,
        run=run,
        client=client,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    id: str,
    run: str,
    *,
    client: AuthenticatedClient,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[SourceRun]:
    """Read a run

     Rate class: `admin`.

    Args:
        id (str):
        run (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[SourceRun]
    """

    kwargs = _get_kwargs(
        id=id,
        run=run,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    run: str,
    *,
    client: AuthenticatedClient,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> SourceRun | None:
    """Read a run

     Rate class: `admin`.

    Args:
        id (str):
        run (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        SourceRun
    """

    return (
        await asyncio_detailed(
            id=id,
            run=run,
            client=client,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
