from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.source_complete_run import SourceCompleteRun
from ...models.source_run import SourceRun
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    run: str,
    *,
    body: SourceCompleteRun | Unset = UNSET,
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
        "url": "/sources/{id}/runs/{run}/complete".format(
            id=quote(str(id), safe=""),
            run=quote(str(run), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> SourceRun | None:
    if response.status_code == 202:
        response_202 = SourceRun.from_dict(response.json())

        return response_202

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
    body: SourceCompleteRun | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[SourceRun]:
    """End a run of a source of kind push

     With `snapshot` what was not brought since it began is gone.

    Rate class: `admin`.

    Args:
        id (str):
        run (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (SourceCompleteRun | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[SourceRun]
    """

    kwargs = _get_kwargs(
        id=id,
        run=run,
        body=body,
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
    body: SourceCompleteRun | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> SourceRun | None:
    """End a run of a source of kind push

     With `snapshot` what was not brought since it began is gone.

    Rate class: `admin`.

    Args:
        id (str):
        run (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (SourceCompleteRun | Unset):

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
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    id: str,
    run: str,
    *,
    client: AuthenticatedClient,
    body: SourceCompleteRun | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[SourceRun]:
    """End a run of a source of kind push

     With `snapshot` what was not brought since it began is gone.

    Rate class: `admin`.

    Args:
        id (str):
        run (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (SourceCompleteRun | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[SourceRun]
    """

    kwargs = _get_kwargs(
        id=id,
        run=run,
        body=body,
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
    body: SourceCompleteRun | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> SourceRun | None:
    """End a run of a source of kind push

     With `snapshot` what was not brought since it began is gone.

    Rate class: `admin`.

    Args:
        id (str):
        run (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (SourceCompleteRun | Unset):

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
            body=body,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
