from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.check_save import CheckSave
from ...models.check_saved import CheckSaved
from ...types import UNSET, Response, Unset


def _get_kwargs(
    namespace: str,
    query: str,
    *,
    body: CheckSave,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/namespaces/{namespace}/queries/{query}".format(
            namespace=quote(str(namespace), safe=""),
            query=quote(str(query), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CheckSaved | None:
    if response.status_code == 200:
        response_200 = CheckSaved.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[CheckSaved]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    namespace: str,
    query: str,
    *,
    client: AuthenticatedClient,
    body: CheckSave,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[CheckSaved]:
    """Save a query with the documents that it should find

     It is asked once, and what it finds is kept for runs to compare with. One that has the name is
    replaced. Saved queries stay when the namespace is reindexed, and go with it.

    Rate class: `write`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        query (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (CheckSave):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CheckSaved]
    """

    kwargs = _get_kwargs(
        namespace=namespace,
        query=query,
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    namespace: str,
    query: str,
    *,
    client: AuthenticatedClient,
    body: CheckSave,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> CheckSaved | None:
    """Save a query with the documents that it should find

     It is asked once, and what it finds is kept for runs to compare with. One that has the name is
    replaced. Saved queries stay when the namespace is reindexed, and go with it.

    Rate class: `write`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        query (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (CheckSave):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CheckSaved
    """

    return sync_detailed(
        namespace=namespace,
        query=query,
        client=client,
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    namespace: str,
    query: str,
    *,
    client: AuthenticatedClient,
    body: CheckSave,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[CheckSaved]:
    """Save a query with the documents that it should find

     It is asked once, and what it finds is kept for runs to compare with. One that has the name is
    replaced. Saved queries stay when the namespace is reindexed, and go with it.

    Rate class: `write`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        query (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (CheckSave):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CheckSaved]
    """

    kwargs = _get_kwargs(
        namespace=namespace,
        query=query,
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    namespace: str,
    query: str,
    *,
    client: AuthenticatedClient,
    body: CheckSave,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> CheckSaved | None:
    """Save a query with the documents that it should find

     It is asked once, and what it finds is kept for runs to compare with. One that has the name is
    replaced. Saved queries stay when the namespace is reindexed, and go with it.

    Rate class: `write`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        query (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (CheckSave):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CheckSaved
    """

    return (
        await asyncio_detailed(
            namespace=namespace,
            query=query,
            client=client,
            body=body,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
