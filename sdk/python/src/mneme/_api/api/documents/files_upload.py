from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.file_accepted import FileAccepted
from ...models.file_form import FileForm
from ...models.file_uploaded import FileUploaded
from ...types import UNSET, Response, Unset


def _get_kwargs(
    namespace: str,
    *,
    body: FileForm,
    dry_run: bool | Unset = UNSET,
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

    params: dict[str, Any] = {}

    params["dry_run"] = dry_run

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/namespaces/{namespace}/files".format(
            namespace=quote(str(namespace), safe=""),
        ),
        "params": params,
    }

    _kwargs["files"] = body.to_multipart()

    headers["Content-Type"] = "multipart/form-data; boundary=+++"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> FileAccepted | FileUploaded | None:
    if response.status_code == 200:
        response_200 = FileUploaded.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = FileAccepted.from_dict(response.json())

        return response_202

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[FileAccepted | FileUploaded]:
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
    body: FileForm,
    dry_run: bool | Unset = UNSET,
    prefer: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[FileAccepted | FileUploaded]:
    """Write the text of files as documents

     Reads the text of up to 100 files, each of at most 64 MiB, and writes it: a document for each file,
    several for a long one. What a file is its content says; GET /formats lists what is read. A file
    that cannot be read is named with the reason, and the others are written, all or nothing. A file of
    a name that was uploaded before replaces its documents. The bytes are not kept. Prefer: respond-
    async answers 202 with an operation once the text is read; Prefer: searchable=soon answers 200
    before a remote index has taken the documents, for which the next query waits.

    Rate class: `write`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        dry_run (bool | Unset):
        prefer (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (FileForm):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[FileAccepted | FileUploaded]
    """

    kwargs = _get_kwargs(
        namespace=namespace,
        body=body,
        dry_run=dry_run,
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
    body: FileForm,
    dry_run: bool | Unset = UNSET,
    prefer: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> FileAccepted | FileUploaded | None:
    """Write the text of files as documents

     Reads the text of up to 100 files, each of at most 64 MiB, and writes it: a document for each file,
    several for a long one. What a file is its content says; GET /formats lists what is read. A file
    that cannot be read is named with the reason, and the others are written, all or nothing. A file of
    a name that was uploaded before replaces its documents. The bytes are not kept. Prefer: respond-
    async answers 202 with an operation once the text is read; Prefer: searchable=soon answers 200
    before a remote index has taken the documents, for which the next query waits.

    Rate class: `write`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        dry_run (bool | Unset):
        prefer (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (FileForm):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        FileAccepted | FileUploaded
    """

    return sync_detailed(
        namespace=namespace,
        client=client,
        body=body,
        dry_run=dry_run,
        prefer=prefer,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    namespace: str,
    *,
    client: AuthenticatedClient,
    body: FileForm,
    dry_run: bool | Unset = UNSET,
    prefer: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[FileAccepted | FileUploaded]:
    """Write the text of files as documents

     Reads the text of up to 100 files, each of at most 64 MiB, and writes it: a document for each file,
    several for a long one. What a file is its content says; GET /formats lists what is read. A file
    that cannot be read is named with the reason, and the others are written, all or nothing. A file of
    a name that was uploaded before replaces its documents. The bytes are not kept. Prefer: respond-
    async answers 202 with an operation once the text is read; Prefer: searchable=soon answers 200
    before a remote index has taken the documents, for which the next query waits.

    Rate class: `write`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        dry_run (bool | Unset):
        prefer (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (FileForm):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[FileAccepted | FileUploaded]
    """

    kwargs = _get_kwargs(
        namespace=namespace,
        body=body,
        dry_run=dry_run,
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
    body: FileForm,
    dry_run: bool | Unset = UNSET,
    prefer: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> FileAccepted | FileUploaded | None:
    """Write the text of files as documents

     Reads the text of up to 100 files, each of at most 64 MiB, and writes it: a document for each file,
    several for a long one. What a file is its content says; GET /formats lists what is read. A file
    that cannot be read is named with the reason, and the others are written, all or nothing. A file of
    a name that was uploaded before replaces its documents. The bytes are not kept. Prefer: respond-
    async answers 202 with an operation once the text is read; Prefer: searchable=soon answers 200
    before a remote index has taken the documents, for which the next query waits.

    Rate class: `write`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        dry_run (bool | Unset):
        prefer (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (FileForm):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        FileAccepted | FileUploaded
    """

    return (
        await asyncio_detailed(
            namespace=namespace,
            client=client,
            body=body,
            dry_run=dry_run,
            prefer=prefer,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
