// What goes wrong, as classes: one for each code of the API, below one for each status. A code that this
// version does not know is thrown as the class of its status, with the code in `code`.

/** Base of all that this package throws. */
export class MnemeError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The server was not reached, or the connection was lost before the answer was whole. */
export class APIConnectionError extends MnemeError {}

/** The answer did not come in the client's time. */
export class APITimeoutError extends APIConnectionError {}

/** An answer of success was not what the API says it is. */
export class UnexpectedAnswerError extends MnemeError {}

/** A delivery is not signed with the secret, or not of now. Answer 400 and look no further. */
export class WebhookVerificationError extends MnemeError {}

/** Events behind the cursor are forgotten, so the state itself has to be looked at; `cursor` is where to go on from. */
export class MissedEventsError extends MnemeError {
  constructor(readonly cursor: string) {
    super("events behind the cursor are no longer kept");
  }
}

/** A write that was left to the server failed. */
export class OperationFailedError extends MnemeError {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

interface Told {
  /** What went wrong, for programs; empty where something before the server answered. */
  code: string;
  message: string;
  /** Names the call in the server's log. */
  requestId: string;
  /** More, in the memory API. */
  details: Record<string, unknown>;
  /** Seconds after which to try again, where the server named them. */
  retryAfter: number | undefined;
}

/** The server answered with an error. */
export class APIError extends MnemeError {
  readonly code: string;
  readonly requestId: string;
  readonly details: Record<string, unknown>;
  readonly retryAfter: number | undefined;

  constructor(
    readonly status: number,
    told: Told,
  ) {
    super(told.code ? `${status} ${told.code}: ${told.message}` : `${status}: ${told.message}`);
    this.code = told.code;
    this.requestId = told.requestId;
    this.details = told.details;
    this.retryAfter = told.retryAfter;
  }
}

/** 304: the document is still what If-None-Match names. */
export class NotModifiedError extends APIError {}
export class BadRequestError extends APIError {}
export class UnauthorizedError extends APIError {}
export class ForbiddenError extends APIError {}
export class NotFoundError extends APIError {}
export class MethodNotAllowedError extends APIError {}
export class ConflictError extends APIError {}
export class PayloadTooLargeError extends APIError {}
export class RateLimitedError extends APIError {}
export class ServerError extends APIError {}
export class InvalidContainerTagError extends BadRequestError {}
export class InvalidCursorError extends BadRequestError {}
export class InvalidEndUserIDError extends BadRequestError {}
export class InvalidExternalIDError extends BadRequestError {}
export class InvalidFilterError extends BadRequestError {}
export class InvalidIDError extends BadRequestError {}
export class InvalidJSONError extends BadRequestError {}
export class InvalidMetadataError extends BadRequestError {}
export class InvalidNamespaceError extends BadRequestError {}
export class InvalidRequestError extends BadRequestError {}
export class InvalidSourceError extends BadRequestError {}
export class InvalidVersionError extends BadRequestError {}
export class InsufficientScopeError extends ForbiddenError {}
export class QuotaExceededError extends ForbiddenError {}
export class DocumentNotFoundError extends NotFoundError {}
export class MemoryNotFoundError extends NotFoundError {}
export class NamespaceNotFoundError extends NotFoundError {}
export class SourceNotFoundError extends NotFoundError {}
export class IdempotencyConflictError extends ConflictError {}
export class StaleVersionError extends ConflictError {}
export class VersionConflictError extends ConflictError {}
export class InternalError extends ServerError {}
export class UpstreamError extends ServerError {}
export class UnavailableError extends ServerError {}
export class SourcesUnavailableError extends UnavailableError {}
/** 504: the call took longer than its time limit; a write is wholly done or not at all. */
export class DeadlineError extends ServerError {}

/** The class of each code. */
export const errorsByCode: Record<string, typeof APIError> = {
  invalid_container_tag: InvalidContainerTagError,
  invalid_cursor: InvalidCursorError,
  invalid_end_user_id: InvalidEndUserIDError,
  invalid_external_id: InvalidExternalIDError,
  invalid_filter: InvalidFilterError,
  invalid_id: InvalidIDError,
  invalid_json: InvalidJSONError,
  invalid_metadata: InvalidMetadataError,
  invalid_namespace: InvalidNamespaceError,
  invalid_request: InvalidRequestError,
  invalid_source: InvalidSourceError,
  invalid_version: InvalidVersionError,
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  insufficient_scope: InsufficientScopeError,
  quota_exceeded: QuotaExceededError,
  document_not_found: DocumentNotFoundError,
  memory_not_found: MemoryNotFoundError,
  namespace_not_found: NamespaceNotFoundError,
  not_found: NotFoundError,
  source_not_found: SourceNotFoundError,
  method_not_allowed: MethodNotAllowedError,
  conflict: ConflictError,
  idempotency_conflict: IdempotencyConflictError,
  stale_version: StaleVersionError,
  version_conflict: VersionConflictError,
  payload_too_large: PayloadTooLargeError,
  rate_limited: RateLimitedError,
  internal_error: InternalError,
  upstream_error: UpstreamError,
  sources_unavailable: SourcesUnavailableError,
  unavailable: UnavailableError,
  timeout: DeadlineError,
};

const byStatus: Record<number, typeof APIError> = {
  304: NotModifiedError,
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  405: MethodNotAllowedError,
  409: ConflictError,
  413: PayloadTooLargeError,
  429: RateLimitedError,
};

/** The error for an answer, whose body may be of either family, or of a proxy. */
export function fromAnswer(status: number, headers: Headers, body: string): APIError {
  let told: Record<string, unknown> = {};
  try {
    const parsed: unknown = JSON.parse(body);
    if (isObject(parsed)) told = isObject(parsed["error"]) ? parsed["error"] : parsed;
  } catch {
    // a proxy's page
  }
  const text = (...names: string[]) => names.map((name) => told[name]).find((v) => typeof v === "string") as string | undefined;
  const code = text("code") ?? "";
  const kind = (Object.hasOwn(errorsByCode, code) ? errorsByCode[code] : undefined) ?? byStatus[status] ?? (status >= 500 ? ServerError : APIError);
  const waits = headers.get("retry-after") ?? "";
  return new kind(status, {
    code,
    message: text("message") ?? "the answer has no message",
    requestId: text("request_id", "requestId") ?? headers.get("x-request-id") ?? "",
    details: isObject(told["details"]) ? told["details"] : {},
    retryAfter: /^\d+$/.test(waits) ? Number(waits) : undefined,
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
