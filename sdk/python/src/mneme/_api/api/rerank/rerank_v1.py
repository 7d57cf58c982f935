from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.rerank_alias_request import RerankAliasRequest
from ...models.rerank_v1_result import RerankV1Result
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: RerankAliasRequest,
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
        "url": "/v1/rerank",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> RerankV1Result | None:
    if response.status_code == 200:
        response_200 = RerankV1Result.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[RerankV1Result]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: RerankAliasRequest,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[RerankV1Result]:
    """Score texts in the shape that clients of Jina's and of Cohere's first API speak

     The same as POST /rerank. Jina's and Cohere's answers have their fields side by side; errors are
    this server's own.

    Rate class: `rerank`.

    Args:
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (RerankAliasRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[RerankV1Result]
    """

    kwargs = _get_kwargs(
        body=body,
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
    body: RerankAliasRequest,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> RerankV1Result | None:
    """Score texts in the shape that clients of Jina's and of Cohere's first API speak

     The same as POST /rerank. Jina's and Cohere's answers have their fields side by side; errors are
    this server's own.

    Rate class: `rerank`.

    Args:
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (RerankAliasRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        RerankV1Result
    """

    return sync_detailed(
        client=client,
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: RerankAliasRequest,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[RerankV1Result]:
    """Score texts in the shape that clients of Jina's and of Cohere's first API speak

     The same as POST /rerank. Jina's and Cohere's answers have their fields side by side; errors are
    this server's own.

    Rate class: `rerank`.

    Args:
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (RerankAliasRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[RerankV1Result]
    """

    kwargs = _get_kwargs(
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: RerankAliasRequest,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> RerankV1Result | None:
    """Score texts in the shape that clients of Jina's and of Cohere's first API speak

     The same as POST /rerank. Jina's and Cohere's answers have their fields side by side; errors are
    this server's own.

    Rate class: `rerank`.

    Args:
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (RerankAliasRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        RerankV1Result
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
