from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...types import UNSET, Response, Unset


def _get_kwargs(
    org: str,
    namespace: str,
    *,
    vectors: bool | Unset = True,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    params: dict[str, Any] = {}

    params["vectors"] = vectors

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/admin/v1/organizations/{org}/namespaces/{namespace}/export".format(
            org=quote(str(org), safe=""),
            namespace=quote(str(namespace), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> str | None:
    if response.status_code == 200:
        response_200 = cast(str, response.content)
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
    org: str,
    namespace: str,
    *,
    client: AuthenticatedClient,
    vectors: bool | Unset = True,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[str]:
    """Export a namespace as NDJSON with hashes

     The format that `mneme export` writes, so that `mneme import` and the import route take it:
    documents with metadata, times, chunks and vectors, read from one snapshot. Every line has a hash
    and a running hash. Only what ends with a trailer line is whole: an export that fails on its way
    ends with an error line, or with none, and the connection is cut.

    Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        vectors (bool | Unset):  Default: True.
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[str]
    """

    kwargs = _get_kwargs(
        org=org,
        namespace=namespace,
        vectors=vectors,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    org: str,
    namespace: str,
    *,
    client: AuthenticatedClient,
    vectors: bool | Unset = True,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> str | None:
    """Export a namespace as NDJSON with hashes

     The format that `mneme export` writes, so that `mneme import` and the import route take it:
    documents with metadata, times, chunks and vectors, read from one snapshot. Every line has a hash
    and a running hash. Only what ends with a trailer line is whole: an export that fails on its way
    ends with an error line, or with none, and the connection is cut.

    Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        vectors (bool | Unset):  Default: True.
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        str
    """

    return sync_detailed(
        org=org,
        namespace=namespace,
        client=client,
        vectors=vectors,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    org: str,
    namespace: str,
    *,
    client: AuthenticatedClient,
    vectors: bool | Unset = True,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[str]:
    """Export a namespace as NDJSON with hashes

     The format that `mneme export` writes, so that `mneme import` and the import route take it:
    documents with metadata, times, chunks and vectors, read from one snapshot. Every line has a hash
    and a running hash. Only what ends with a trailer line is whole: an export that fails on its way
    ends with an error line, or with none, and the connection is cut.

    Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        vectors (bool | Unset):  Default: True.
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[str]
    """

    kwargs = _get_kwargs(
        org=org,
        namespace=namespace,
        vectors=vectors,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    org: str,
    namespace: str,
    *,
    client: AuthenticatedClient,
    vectors: bool | Unset = True,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> str | None:
    """Export a namespace as NDJSON with hashes

     The format that `mneme export` writes, so that `mneme import` and the import route take it:
    documents with metadata, times, chunks and vectors, read from one snapshot. Every line has a hash
    and a running hash. Only what ends with a trailer line is whole: an export that fails on its way
    ends with an error line, or with none, and the connection is cut.

    Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        vectors (bool | Unset):  Default: True.
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
            org=org,
            namespace=namespace,
            client=client,
            vectors=vectors,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
