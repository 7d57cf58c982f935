package fault

// Entry says what a code means to a caller and what to do about it.
type Entry struct {
	Code      Code
	Status    int  // HTTP
	Retryable bool // repeating the same call later may succeed
	Meaning   string
	Remedy    string
}

// rules is the table of published codes: status and retry rule of each, and its
// place in the error catalogue.
var rules = map[Code]Entry{
	InvalidRequest: {Status: 400, Meaning: "A field is missing, unknown, of the wrong type or out of its range. The " +
		"message names it.",
		Remedy: "Correct the request. Unknown fields are refused on purpose: a misspelt one must not widen a search."},
	InvalidJSON: {Status: 400, Meaning: "The body is absent, is not JSON, or names a field twice. The message says where.",
		Remedy: "Send one JSON object in UTF-8 with Content-Type: application/json."},
	InvalidNamespace: {Status: 400, Meaning: "The namespace's name breaks the rule: 1-64 characters of a-z 0-9 _ -, " +
		"starting with a letter or digit.",
		Remedy: "Choose another name."},
	InvalidID: {Status: 400, Meaning: "A document id breaks the rule (1-256 characters of A-Z a-z 0-9 . _ : -, starting " +
		"with a letter or digit), or stands twice in one call.",
		Remedy: "Derive ids from your own keys, for instance by hashing those that do not fit."},
	InvalidMetadata: {Status: 400, Meaning: "Metadata has more than 32 keys, a key or value of a kind that is not " +
		"allowed, or is too large.",
		Remedy: "Values are strings, numbers, booleans and arrays of strings; leave a key out instead of sending null."},
	InvalidFilter: {Status: 400, Meaning: "The metadata filter is empty or uses an operator that is not supported.",
		Remedy: "Use equality, $eq, $in, $and and $or; leave filter out to search everything."},
	InvalidCursor: {Status: 400, Meaning: "The cursor was not made by this route with these parameters.",
		Remedy: "Pass next_cursor back unchanged together with the same parameters, or start again without a cursor."},
	InvalidEndUserID: {Status: 400, Meaning: "endUserId breaks the rule: 1-128 characters of A-Z a-z 0-9 @ . _ -, " +
		"and neither . nor ...",
		Remedy: "Use an id without a colon or other characters, such as your own user id."},
	InvalidExternalID: {Status: 400, Meaning: "externalId breaks the rule: 1-256 characters of A-Z a-z 0-9 . _ : -, " +
		"starting with a letter or digit.",
		Remedy: "Use the record's id in the source system, hashed where it does not fit."},
	InvalidSource: {Status: 400, Meaning: "source breaks the rule: 1-128 characters of A-Z a-z 0-9 . _ : -, starting " +
		"with a letter or digit.",
		Remedy: "Use a short name of the source system."},
	InvalidContainerTag: {Status: 400, Meaning: "containerTag is empty, null or has other characters than A-Z a-z 0-9 . _ : -.",
		Remedy: "Send 1-128 of these characters, or leave the field out. A wrong tag never widens a search."},
	InvalidVersion: {Status: 400, Meaning: "version is not a whole number from 1 to 9007199254740991.",
		Remedy: "Send the source system's own counter or its time of change in milliseconds."},
	Unauthorized: {Status: 401, Meaning: "The key is missing, wrong, expired, revoked, or of a kind that this API does not take.",
		Remedy: "Send Authorization: Bearer <key>: sk-service- keys for namespaces, rerank and MCP, cint_ keys for " +
			"/api/v1, adm- keys for /admin/v1."},
	Forbidden: {Status: 403, Meaning: "The key is valid and may not do this: it is read-only, limited to another " +
		"namespace, source or end user, its organization is suspended, the Origin is not allowed, or X-Mneme-Grant is " +
		"missing or does not allow the write, as details.reason says.",
		Remedy: "Use another key or grant, or have the key's rights changed. What a revoked grant was to write is dropped."},
	InsufficientScope: {Status: 403, Meaning: "The integration key lacks the scope that details.scope names.",
		Remedy: "Create a key with that scope."},
	QuotaExceeded: {Status: 403, Meaning: "The end user keeps as many memories as the integration's quota allows, or the " +
		"organization has as many bytes, documents, namespaces or end users as its quotas allow. The message says which, " +
		"and in the memory API details with quota, limit and used.",
		Remedy: "Delete memories or raise the quota. Waiting does not help."},
	NamespaceNotFound: {Status: 404, Meaning: "No document is in the namespace, or there is none of that name in this " +
		"organization.",
		Remedy: "Write a document first; GET /namespaces lists those that hold any."},
	DocumentNotFound: {Status: 404, Meaning: "The namespace holds no document with that id.",
		Remedy: "List the documents, or write it."},
	SourceNotFound: {Status: 404, Meaning: "There is no source with that id.", Remedy: "List the sources."},
	MemoryNotFound: {Status: 404, Meaning: "The end user has no memory with that source and external id.",
		Remedy: "Write it with PUT /api/v1/memories/{externalId}."},
	NotFound: {Status: 404, Meaning: "There is nothing at this path, or the thing that it names is gone.",
		Remedy: "Check the path against the API reference."},
	MethodNotAllowed: {Status: 405, Meaning: "The path exists and takes other methods, which the header Allow lists.",
		Remedy: "Use one of them."},
	Conflict: {
		Status:    409,
		Retryable: true,
		Meaning: "The request contradicts what is stored: a namespace with the other index, documents that were " +
			"rewritten again and again while a filter deletion ran, vectors of another model.",
		Remedy: "Read the message. After a filter deletion repeat the call; otherwise change the request or run " +
			"mneme reindex.",
	},
	StaleVersion: {Status: 409, Meaning: "A newer version of the memory is stored; details has currentVersion and status.",
		Remedy: "Do not retry: the newer version stays."},
	VersionConflict: {Status: 409, Meaning: "Another request with the same version was stored before; details has " +
		"currentVersion.",
		Remedy: "Give every change in the source system a version of its own."},
	IdempotencyConflict: {Status: 409, Meaning: "The Idempotency-Key was used with another body within the last 24 hours.",
		Remedy: "Make a new key for each new request, and repeat one only to retry."},
	PayloadTooLarge: {Status: 413, Meaning: "A document is larger than 256 KB, a memory larger than 64 KB, a batch " +
		"larger than 1 MiB, or the body larger than its limit.",
		Remedy: "Split the text or the call."},
	RateLimited: {Status: 429, Retryable: true, Meaning: "The key has used up its rate limit; the message names the limit.",
		Remedy: "Wait the seconds of Retry-After. The headers RateLimit and RateLimit-Policy show what is left on every answer."},
	Internal: {Status: 500, Retryable: true, Meaning: "The server failed. What happened is in its log under the request id.",
		Remedy: "Retry with backoff; report the request id if it stays."},
	Upstream: {Status: 502, Retryable: true, Meaning: "A model or another service behind the server failed or answered nonsense.",
		Remedy: "Retry with backoff; the operator finds the cause in the log under the request id."},
	Unavailable: {
		Status:    503,
		Retryable: true,
		Meaning:   "Something that the call needs is off, starting, restarting or overloaded; nothing was changed.",
		Remedy: "Retry after Retry-After seconds where the header is sent. Without it, waiting does not help: a " +
			"model or a part is switched off.",
	},
	SourcesUnavailable: {Status: 503, Retryable: true, Meaning: "Sources are not available on this server.",
		Remedy: "Retry after Retry-After seconds where the header is sent; otherwise sources are switched off."},
	Timeout: {
		Status:    504,
		Retryable: true,
		Meaning: "The call took longer than its time limit, or than X-Timeout-Ms allowed. A write that timed out was " +
			"done wholly or not at all.",
		Remedy: "Retry: every write is safe to repeat, and one of documents goes on with the vectors that it had made. Allow " +
			"more time, ask for less, or send a long write with Prefer: respond-async, which answers at once.",
	},
}
