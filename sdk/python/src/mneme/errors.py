"""What goes wrong, as exceptions: one for each code of the API, below one for each status.

``except mneme.NotFoundError`` catches whatever is not there, ``except
mneme.NamespaceNotFoundError`` only that. A code that this version does not know is raised as
the exception of its status, with the code in ``code``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class MnemeError(Exception):
    """Base of all that this package raises."""


class APIConnectionError(MnemeError):
    """The server was not reached, or the connection was lost before the answer was whole."""


class APITimeoutError(APIConnectionError):
    """The answer did not come in the client's time."""


class UnexpectedAnswerError(MnemeError):
    """An answer of success was not what the API says it is."""


class WebhookVerificationError(MnemeError):
    """A delivery is not signed with the secret, or not of now. Answer 400 and look no further."""


class MissedEventsError(MnemeError):
    """Events behind the cursor are forgotten, so the state itself has to be looked at.

    ``cursor`` is where to go on from afterwards.
    """

    def __init__(self, cursor: str) -> None:
        super().__init__("events behind the cursor are no longer kept")
        self.cursor = cursor


class OperationFailedError(MnemeError):
    """A write that was left to the server failed; ``code`` and ``message`` say why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


class APIError(MnemeError):
    """The server answered with an error.

    Attributes:
        status: the HTTP status.
        code: what went wrong, for programs; empty where something before the server answered.
        message: the same, for people.
        request_id: names the call in the server's log.
        details: more, in the memory API; see the errors' page.
        retry_after: seconds after which to try again, where the server named them.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        request_id: str = "",
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message}" if code else f"{status}: {message}")
        self.status, self.code, self.message = status, code, message
        self.request_id, self.retry_after = request_id, retry_after
        self.details: Mapping[str, Any] = details or {}


class NotModifiedError(APIError):
    """304: the document is still what ``if_none_match`` names."""


class BadRequestError(APIError):
    """400: the request is wrong."""


class UnauthorizedError(APIError):
    """401: the key is missing, wrong, expired, revoked or of another API."""


class ForbiddenError(APIError):
    """403: the key may not do this."""


class NotFoundError(APIError):
    """404: what the request names is not there."""


class MethodNotAllowedError(APIError):
    """405: the path takes other methods."""


class ConflictError(APIError):
    """409: the request contradicts what is stored."""


class PayloadTooLargeError(APIError):
    """413: a document, a memory or the whole call is too large."""


class RateLimitedError(APIError):
    """429: the key has used up its rate; ``retry_after`` says for how long."""


class ServerError(APIError):
    """5xx: the server, or something behind it, failed."""


class InvalidContainerTagError(BadRequestError): ...


class InvalidCursorError(BadRequestError): ...


class InvalidEndUserIDError(BadRequestError): ...


class InvalidExternalIDError(BadRequestError): ...


class InvalidFilterError(BadRequestError): ...


class InvalidIDError(BadRequestError): ...


class InvalidJSONError(BadRequestError): ...


class InvalidMetadataError(BadRequestError): ...


class InvalidNamespaceError(BadRequestError): ...


class InvalidRequestError(BadRequestError): ...


class InvalidSourceError(BadRequestError): ...


class InvalidVersionError(BadRequestError): ...


class InsufficientScopeError(ForbiddenError): ...


class QuotaExceededError(ForbiddenError): ...


class DocumentNotFoundError(NotFoundError): ...


class MemoryNotFoundError(NotFoundError): ...


class NamespaceNotFoundError(NotFoundError): ...


class SourceNotFoundError(NotFoundError): ...


class IdempotencyConflictError(ConflictError): ...


class StaleVersionError(ConflictError): ...


class VersionConflictError(ConflictError): ...


class InternalError(ServerError): ...


class UpstreamError(ServerError): ...


class UnavailableError(ServerError): ...


class SourcesUnavailableError(UnavailableError): ...


class DeadlineError(ServerError):
    """504: the call took longer than its time limit; a write is wholly done or not at all."""


BY_CODE: dict[str, type[APIError]] = {
    "invalid_container_tag": InvalidContainerTagError,
    "invalid_cursor": InvalidCursorError,
    "invalid_end_user_id": InvalidEndUserIDError,
    "invalid_external_id": InvalidExternalIDError,
    "invalid_filter": InvalidFilterError,
    "invalid_id": InvalidIDError,
    "invalid_json": InvalidJSONError,
    "invalid_metadata": InvalidMetadataError,
    "invalid_namespace": InvalidNamespaceError,
    "invalid_request": InvalidRequestError,
    "invalid_source": InvalidSourceError,
    "invalid_version": InvalidVersionError,
    "unauthorized": UnauthorizedError,
    "forbidden": ForbiddenError,
    "insufficient_scope": InsufficientScopeError,
    "quota_exceeded": QuotaExceededError,
    "document_not_found": DocumentNotFoundError,
    "memory_not_found": MemoryNotFoundError,
    "namespace_not_found": NamespaceNotFoundError,
    "not_found": NotFoundError,
    "source_not_found": SourceNotFoundError,
    "method_not_allowed": MethodNotAllowedError,
    "conflict": ConflictError,
    "idempotency_conflict": IdempotencyConflictError,
    "stale_version": StaleVersionError,
    "version_conflict": VersionConflictError,
    "payload_too_large": PayloadTooLargeError,
    "rate_limited": RateLimitedError,
    "internal_error": InternalError,
    "upstream_error": UpstreamError,
    "sources_unavailable": SourcesUnavailableError,
    "unavailable": UnavailableError,
    "timeout": DeadlineError,
}

_BY_STATUS: dict[int, type[APIError]] = {
    304: NotModifiedError,
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    405: MethodNotAllowedError,
    409: ConflictError,
    413: PayloadTooLargeError,
    429: RateLimitedError,
}


def _field(body: Mapping[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := body.get(name), str)), "")


def from_answer(status: int, headers: Mapping[str, str], body: Any) -> APIError:
    """The exception for an answer, whose body may be of either family, or of a proxy."""
    told = body if isinstance(body, Mapping) else {}
    if isinstance(inner := told.get("error"), Mapping):
        told = inner
    code = _field(told, "code")
    kind = BY_CODE.get(code) or _BY_STATUS.get(status) or (ServerError if status >= 500 else APIError)
    waits = headers.get("retry-after", "")
    details = told.get("details")
    return kind(
        status,
        code,
        _field(told, "message") or "the answer has no message",
        request_id=_field(told, "request_id", "requestId") or headers.get("x-request-id", ""),
        details=details if isinstance(details, Mapping) else None,
        retry_after=float(waits) if waits.isdecimal() else None,
    )
