from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.openai_found import OpenaiFound
from ...models.openai_search_request import OpenaiSearchRequest
from ...types import UNSET, Response, Unset


def _get_kwargs(
    vector_store_id: str,
    *,
    body: OpenaiSearchRequest,
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
        "url": "/v1/vector_stores/{vector_store_id}/search".format(
            vector_store_id=quote(str(vector_store_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> OpenaiFound | None:
    if response.status_code == 200:
        response_200 = OpenaiFound.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[OpenaiFound]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    vector_store_id: str,
    *,
    client: AuthenticatedClient,
    body: OpenaiSearchRequest,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[OpenaiFound]:
    """Find chunks in a vector store

     Hybrid search in the namespace of that name, as `POST /namespaces/{namespace}/query` does it.

    Rate class: `read`.

    Args:
        vector_store_id (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (OpenaiSearchRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[OpenaiFound]
    """

    kwargs = _get_kwargs(
        vector_store_id=vector_store_id,
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    vector_store_id: str,
    *,
    client: AuthenticatedClient,
    body: OpenaiSearchRequest,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> OpenaiFound | None:
    """Find chunks in a vector store

     Hybrid search in the namespace of that name, as `POST /namespaces/{namespace}/query` does it.

    Rate class: `read`.

    Args:
        vector_store_id (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (OpenaiSearchRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        OpenaiFound
    """

    return sync_detailed(
        vector_store_id=vector_store_id,
        client=client,
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    vector_store_id: str,
    *,
    client: AuthenticatedClient,
    body: OpenaiSearchRequest,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[OpenaiFound]:
    """Find chunks in a vector store

     Hybrid search in the namespace of that name, as `POST /namespaces/{namespace}/query` does it.

    Rate class: `read`.

    Args:
        vector_store_id (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (OpenaiSearchRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[OpenaiFound]
    """

    kwargs = _get_kwargs(
        vector_store_id=vector_store_id,
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    vector_store_id: str,
    *,
    client: AuthenticatedClient,
    body: OpenaiSearchRequest,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> OpenaiFound | None:
    """Find chunks in a vector store

     Hybrid search in the namespace of that name, as `POST /namespaces/{namespace}/query` does it.

    Rate class: `read`.

    Args:
        vector_store_id (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (OpenaiSearchRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        OpenaiFound
    """

    return (
        await asyncio_detailed(
            vector_store_id=vector_store_id,
            client=client,
            body=body,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
