from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.document_operation import DocumentOperation
from ...models.document_written import DocumentWritten
from ...models.write_documents import WriteDocuments
from ...types import UNSET, Response, Unset


def _get_kwargs(
    namespace: str,
    *,
    body: WriteDocuments,
    prefer: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(prefer, Unset):
        headers["Prefer"] = prefer

    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/namespaces/{namespace}/documents".format(
            namespace=quote(str(namespace), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DocumentOperation | DocumentWritten | None:
    if response.status_code == 200:
        response_200 = DocumentWritten.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = DocumentOperation.from_dict(response.json())

        return response_202

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[DocumentOperation | DocumentWritten]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    namespace: str,
    *,
    client: AuthenticatedClient,
    body: WriteDocuments,
    prefer: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[DocumentOperation | DocumentWritten]:
    """Write up to 100 documents, all or nothing

     Writing an id replaces the document. 200 means durable and searchable. Prefer: respond-async answers
    202 with an operation; Prefer: searchable=soon answers 200 before a remote index has taken the
    documents, for which the next query waits.

    Rate class: `write`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        prefer (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (WriteDocuments):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DocumentOperation | DocumentWritten]
    """

    kwargs = _get_kwargs(
        namespace=namespace,
        body=body,
        prefer=prefer,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    namespace: str,
    *,
    client: AuthenticatedClient,
    body: WriteDocuments,
    prefer: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> DocumentOperation | DocumentWritten | None:
    """Write up to 100 documents, all or nothing

     Writing an id replaces the document. 200 means durable and searchable. Prefer: respond-async answers
    202 with an operation; Prefer: searchable=soon answers 200 before a remote index has taken the
    documents, for which the next query waits.

    Rate class: `write`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        prefer (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (WriteDocuments):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DocumentOperation | DocumentWritten
    """

    return sync_detailed(
        namespace=namespace,
        client=client,
        body=body,
        prefer=prefer,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    namespace: str,
    *,
    client: AuthenticatedClient,
    body: WriteDocuments,
    prefer: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[DocumentOperation | DocumentWritten]:
    """Write up to 100 documents, all or nothing

     Writing an id replaces the document. 200 means durable and searchable. Prefer: respond-async answers
    202 with an operation; Prefer: searchable=soon answers 200 before a remote index has taken the
    documents, for which the next query waits.

    Rate class: `write`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        prefer (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (WriteDocuments):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DocumentOperation | DocumentWritten]
    """

    kwargs = _get_kwargs(
        namespace=namespace,
        body=body,
        prefer=prefer,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    namespace: str,
    *,
    client: AuthenticatedClient,
    body: WriteDocuments,
    prefer: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> DocumentOperation | DocumentWritten | None:
    """Write up to 100 documents, all or nothing

     Writing an id replaces the document. 200 means durable and searchable. Prefer: respond-async answers
    202 with an operation; Prefer: searchable=soon answers 200 before a remote index has taken the
    documents, for which the next query waits.

    Rate class: `write`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        prefer (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (WriteDocuments):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DocumentOperation | DocumentWritten
    """

    return (
        await asyncio_detailed(
            namespace=namespace,
            client=client,
            body=body,
            prefer=prefer,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
