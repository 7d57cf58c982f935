from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.admin_imported_namespace import AdminImportedNamespace
from ...models.admin_namespaces_import_on_conflict import (
    AdminNamespacesImportOnConflict,
)
from ...types import UNSET, File, Response, Unset


def _get_kwargs(
    org: str,
    namespace: str,
    *,
    body: File,
    on_conflict: AdminNamespacesImportOnConflict | Unset = "fail",
    embedding_model: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    params: dict[str, Any] = {}

    json_on_conflict: str | Unset = UNSET
    if not isinstance(on_conflict, Unset):
        json_on_conflict = on_conflict

    params["on_conflict"] = json_on_conflict

    params["embedding_model"] = embedding_model

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/admin/v1/organizations/{org}/namespaces/{namespace}/import".format(
            org=quote(str(org), safe=""),
            namespace=quote(str(namespace), safe=""),
        ),
        "params": params,
    }

    _kwargs["content"] = body.payload
    headers["Content-Type"] = "application/x-ndjson"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AdminImportedNamespace | None:
    if response.status_code == 200:
        response_200 = AdminImportedNamespace.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AdminImportedNamespace]:
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
    body: File,
    on_conflict: AdminNamespacesImportOnConflict | Unset = "fail",
    embedding_model: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AdminImportedNamespace]:
    """Import a data set of one namespace

     Takes what the export route or `mneme export --namespace` wrote, compressed with gzip or not, under
    any name. It is checked to its end before anything is stored: what was cut off, altered, added or
    left out is refused by its line. The namespace is made when there is none. Vectors are taken over
    where the namespace's models made them, and are computed again otherwise. 200 means that all
    documents are durable and searchable. Documents are stored in batches: an import that fails on its
    way says how many were stored, and repeating it goes on from there. A line may have up to 32 MiB, a
    data set the 2 GiB of `limits.import_mb`, unless that says otherwise. An organization imports one at
    a time; another answers 503.

    Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        on_conflict (AdminNamespacesImportOnConflict | Unset):  Default: 'fail'.
        embedding_model (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AdminImportedNamespace]
    """

    kwargs = _get_kwargs(
        org=org,
        namespace=namespace,
        body=body,
        on_conflict=on_conflict,
        embedding_model=embedding_model,
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
    body: File,
    on_conflict: AdminNamespacesImportOnConflict | Unset = "fail",
    embedding_model: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AdminImportedNamespace | None:
    """Import a data set of one namespace

     Takes what the export route or `mneme export --namespace` wrote, compressed with gzip or not, under
    any name. It is checked to its end before anything is stored: what was cut off, altered, added or
    left out is refused by its line. The namespace is made when there is none. Vectors are taken over
    where the namespace's models made them, and are computed again otherwise. 200 means that all
    documents are durable and searchable. Documents are stored in batches: an import that fails on its
    way says how many were stored, and repeating it goes on from there. A line may have up to 32 MiB, a
    data set the 2 GiB of `limits.import_mb`, unless that says otherwise. An organization imports one at
    a time; another answers 503.

    Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        on_conflict (AdminNamespacesImportOnConflict | Unset):  Default: 'fail'.
        embedding_model (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AdminImportedNamespace
    """

    return sync_detailed(
        org=org,
        namespace=namespace,
        client=client,
        body=body,
        on_conflict=on_conflict,
        embedding_model=embedding_model,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    org: str,
    namespace: str,
    *,
    client: AuthenticatedClient,
    body: File,
    on_conflict: AdminNamespacesImportOnConflict | Unset = "fail",
    embedding_model: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AdminImportedNamespace]:
    """Import a data set of one namespace

     Takes what the export route or `mneme export --namespace` wrote, compressed with gzip or not, under
    any name. It is checked to its end before anything is stored: what was cut off, altered, added or
    left out is refused by its line. The namespace is made when there is none. Vectors are taken over
    where the namespace's models made them, and are computed again otherwise. 200 means that all
    documents are durable and searchable. Documents are stored in batches: an import that fails on its
    way says how many were stored, and repeating it goes on from there. A line may have up to 32 MiB, a
    data set the 2 GiB of `limits.import_mb`, unless that says otherwise. An organization imports one at
    a time; another answers 503.

    Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        on_conflict (AdminNamespacesImportOnConflict | Unset):  Default: 'fail'.
        embedding_model (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AdminImportedNamespace]
    """

    kwargs = _get_kwargs(
        org=org,
        namespace=namespace,
        body=body,
        on_conflict=on_conflict,
        embedding_model=embedding_model,
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
    body: File,
    on_conflict: AdminNamespacesImportOnConflict | Unset = "fail",
    embedding_model: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AdminImportedNamespace | None:
    """Import a data set of one namespace

     Takes what the export route or `mneme export --namespace` wrote, compressed with gzip or not, under
    any name. It is checked to its end before anything is stored: what was cut off, altered, added or
    left out is refused by its line. The namespace is made when there is none. Vectors are taken over
    where the namespace's models made them, and are computed again otherwise. 200 means that all
    documents are durable and searchable. Documents are stored in batches: an import that fails on its
    way says how many were stored, and repeating it goes on from there. A line may have up to 32 MiB, a
    data set the 2 GiB of `limits.import_mb`, unless that says otherwise. An organization imports one at
    a time; another answers 503.

    Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        on_conflict (AdminNamespacesImportOnConflict | Unset):  Default: 'fail'.
        embedding_model (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AdminImportedNamespace
    """

    return (
        await asyncio_detailed(
            org=org,
            namespace=namespace,
            client=client,
            body=body,
            on_conflict=on_conflict,
            embedding_model=embedding_model,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
