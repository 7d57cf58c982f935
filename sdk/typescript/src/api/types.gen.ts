// Made by sdk/generate.sh.

export type ClientOptions = {
    baseUrl: `${string}://${string}` | (string & {});
};

export type Webhooks2 = OnNamespaceCreatedWebhookRequest | OnNamespaceDeletedWebhookRequest | OnNamespaceReindexedWebhookRequest | OnDocumentsWrittenWebhookRequest | OnDocumentsDeletedWebhookRequest | OnSourceRunCompletedWebhookRequest | OnSourceRunFailedWebhookRequest | OnSourceDeletionsWithheldWebhookRequest | OnSourceCredentialsFailedWebhookRequest | OnSourceStateChangedWebhookRequest | OnMemoryCreatedWebhookRequest | OnMemoryUpdatedWebhookRequest | OnMemoryTombstonedWebhookRequest | OnMemoryRestoredWebhookRequest | OnMemoryDeletedWebhookRequest | OnUserErasedWebhookRequest | OnQuotaExceededWebhookRequest | OnKeyCreatedWebhookRequest | OnKeyRevokedWebhookRequest | OnModelStateChangedWebhookRequest | OnWebhookDisabledWebhookRequest;

/**
 * The error body of the namespace and the admin API.
 */
export type Error = {
    error: ErrorDetail;
};

/**
 * What went wrong.
 */
export type ErrorDetail = {
    /**
     * What went wrong, for programs. New codes may come.
     */
    code: string;
    /**
     * What went wrong, for people.
     */
    message: string;
    /**
     * As in the header X-Request-Id.
     */
    request_id: string;
};

/**
 * The error body of the memory API.
 */
export type MemoryError = {
    /**
     * The HTTP status.
     */
    statusCode: number;
    /**
     * What went wrong, for programs. New codes may come.
     */
    code: string;
    /**
     * What went wrong, for people.
     */
    message: string;
    /**
     * As in the header X-Request-Id.
     */
    requestId: string;
    /**
     * More for programs: field and reason of a 400, scope of insufficient_scope, quota, limit and used of quota_exceeded, retryAfter of a 429, currentVersion of a version conflict.
     */
    details: {
        [key: string]: unknown;
    };
};

export type AdminCertificate = {
    /**
     * the end user
     */
    end_user_id: string;
    /**
     * id of the organization
     */
    organization_id: string;
    /**
     * id of the integration
     */
    integration: string;
    /**
     * name of the integration
     */
    integration_name: string;
    deleted: AdminDeleted;
    grants: AdminUngranted;
    /**
     * the store and the indexes were searched afterwards and hold nothing
     */
    verified_absent: boolean;
    erased_at: string;
};

export type AdminChangeIntegration = {
    /**
     * its new name, which does not begin with int_
     */
    name?: string | null;
    /**
     * those left out stay
     */
    quotas?: AdminQuotaChange | null;
    /**
     * whether sources write memories of its end users by a grant only
     */
    grants_required?: boolean | null;
};

export type AdminChangeKey = {
    /**
     * for people
     */
    name?: string | null;
    /**
     * refuses whatever changes data
     */
    read_only?: boolean | null;
    /**
     * of calls that name none; empty: none
     */
    default_namespace?: string | null;
    /**
     * replace all of the key's own
     */
    limits?: {
        [key: string]: AdminRateChange;
    };
};

export type AdminChangeOrganization = {
    /**
     * its new name, which does not begin with org_
     */
    name?: string | null;
    /**
     * true makes all its keys answer 403
     */
    suspended?: boolean | null;
};

export type AdminConfiguration = {
    /**
     * of the program
     */
    version: string;
    /**
     * what defaults, file, environment variables and flags come to together, as YAML; secrets are redacted
     */
    yaml: string;
};

export type AdminCreateIntegration = {
    /**
     * its name, which does not begin with int_
     */
    name: string;
    /**
     * those left out take the defaults
     */
    quotas?: AdminQuotaChange | null;
    /**
     * whether sources write memories of its end users by a grant only; default: false
     */
    grants_required?: boolean | null;
};

export type AdminCreateIntegrationKey = {
    /**
     * what it is for; default: integration
     */
    kind?: 'integration' | 'personal';
    /**
     * for people
     */
    name?: string;
    /**
     * rights of an integration's key; default memories:read and memories:write
     */
    scopes?: Array<'memories:read' | 'memories:write' | 'recall:read' | 'users:erase' | 'status:read'>;
    /**
     * the only one that a personal key reaches, required for it
     */
    end_user_id?: string | null;
    /**
     * of this key alone, by rate class
     */
    limits?: {
        [key: string]: AdminRateChange;
    };
    /**
     * in the future; default: never
     */
    expires_at?: string | null;
};

export type AdminCreateKey = {
    /**
     * what it is for; team and organization are for migration only; default: service
     */
    kind?: 'service' | 'admin' | 'team' | 'organization';
    /**
     * for people
     */
    name?: string;
    /**
     * refuses whatever changes data; default: false
     */
    read_only?: boolean;
    /**
     * limits a service key to one namespace; gives blocks of context of an integration or personal key passages of it
     */
    namespace?: string | null;
    /**
     * limits a service key to the source with this id, as of a vendor's process that pushes its items
     */
    source?: string | null;
    /**
     * of calls that name none
     */
    default_namespace?: string | null;
    /**
     * of the key itself, by rate class
     */
    limits?: {
        [key: string]: AdminRateChange;
    };
    /**
     * in the future; default: never
     */
    expires_at?: string | null;
};

export type AdminCreateOrganization = {
    /**
     * its name, which does not begin with org_
     */
    name: string;
    /**
     * of several databases the one that it is to lie in; without it the server's setting decides
     */
    database?: string;
};

export type AdminDeleted = {
    memories: number;
    vectors: number;
    records: number;
    receipts: number;
    /**
     * stored answers to calls with an Idempotency-Key
     */
    replays: number;
};

export type AdminDiscarded = {
    /**
     * false: nothing was kept or held
     */
    discarded: boolean;
};

export type AdminDocumentLine = {
    type: 'document';
    data: DatasetDocument;
    /**
     * SHA-256 of the type, a line feed and data as it is written; base64url without padding
     */
    hash: string;
    /**
     * SHA-256 of the line before's chain (32 zero bytes at first) and hash; base64url without padding. That of the last line is a hash over everything
     */
    chain: string;
};

export type AdminEndLine = {
    type: 'end';
    data: DatasetEnd;
    /**
     * SHA-256 of the type, a line feed and data as it is written; base64url without padding
     */
    hash: string;
    /**
     * SHA-256 of the line before's chain (32 zero bytes at first) and hash; base64url without padding. That of the last line is a hash over everything
     */
    chain: string;
};

export type AdminEndUser = {
    /**
     * the end user
     */
    id: string;
    /**
     * id of the integration
     */
    integration: string;
    /**
     * name of the integration
     */
    integration_name: string;
    memories: number;
    /**
     * distinct container tags
     */
    containers: number;
    /**
     * UTF-8 bytes of the memories
     */
    bytes: number;
    first_seen: string;
    /**
     * of a write or a search; searches come in about half a minute late
     */
    last_seen: string;
    /**
     * since when an erasure is under way; null: none is
     */
    erasing: string | null;
};

export type AdminEndUsers = {
    end_users: Array<AdminEndUser>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type AdminErrorLine = {
    type: 'error';
    data: DatasetFailure;
    /**
     * SHA-256 of the type, a line feed and data as it is written; base64url without padding
     */
    hash: string;
    /**
     * SHA-256 of the line before's chain (32 zero bytes at first) and hash; base64url without padding. That of the last line is a hash over everything
     */
    chain: string;
};

export type AdminExportEnd = {
    type: 'end';
    memories: number;
    records: number;
    receipts: number;
};

export type AdminExportGrant = {
    id: string;
    source: string;
    /**
     * their names; they are not exported
     */
    secrets_set: Array<string>;
    created_at: string;
    revoked_at: string | null;
};

export type AdminExportHead = {
    type: 'end_user';
    id: string;
    organization_id: string;
    integration: string;
    integration_name: string;
    first_seen: string;
    last_seen: string;
    exported_at: string;
    /**
     * of sources, by creation time
     */
    grants: Array<AdminExportGrant>;
};

export type AdminExportMemory = {
    type: 'memory';
    id: string;
    content: string;
    container_tag: string | null;
    metadata: Metadata;
    source: string | null;
    external_id: string | null;
    created_at: string;
    updated_at: string;
};

export type AdminExportReceipt = {
    type: 'receipt';
    source: string;
    external_id: string;
    version: number;
    operation: 'upsert' | 'tombstone';
    request_hash: string;
    outcome: 'created' | 'updated' | 'unchanged' | 'restored' | 'tombstoned';
    occurred_at: string;
    applied_at: string;
    document_id: string;
    content_hash: string;
};

export type AdminExportRecord = {
    type: 'record';
    source: string;
    external_id: string;
    version: number;
    status: 'active' | 'tombstoned';
    occurred_at: string;
    updated_at: string;
    document_id: string;
    content_hash: string;
};

export type AdminHeaderLine = {
    type: 'header';
    data: DatasetHeader;
    /**
     * SHA-256 of the type, a line feed and data as it is written; base64url without padding
     */
    hash: string;
    /**
     * SHA-256 of the line before's chain (32 zero bytes at first) and hash; base64url without padding. That of the last line is a hash over everything
     */
    chain: string;
};

export type AdminImportedNamespace = {
    namespace: NamespaceName;
    /**
     * whether the namespace has a learned-sparse index
     */
    sparse: boolean;
    /**
     * id of the data set
     */
    data_set: string;
    /**
     * of the namespace as the data set has it; another export of a namespace that holds the same, and nothing else, has the same hash in its end line
     */
    hash: string;
    /**
     * in the data set: the sum of created, replaced, unchanged and skipped
     */
    documents: number;
    /**
     * that were not there
     */
    created: number;
    /**
     * that were there with other contents
     */
    replaced: number;
    /**
     * that were there with the same text and metadata
     */
    unchanged: number;
    /**
     * that were there with other contents, and stayed as they are
     */
    skipped: number;
    /**
     * chunks of the documents created and replaced
     */
    chunks: number;
    /**
     * how many of those created and replaced had their vectors computed; the others brought them in the data set
     */
    embedded: number;
};

export type AdminIntegration = {
    id: string;
    /**
     * id of its organization
     */
    organization_id: string;
    /**
     * unique in its organization; in paths as good as the id
     */
    name: string;
    quotas: AdminQuotas;
    /**
     * whether sources write memories of its end users by a grant only
     */
    grants_required: boolean;
    created_at: string;
};

export type AdminIntegrations = {
    integrations: Array<AdminIntegration>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type AdminIssuedKey = {
    /**
     * id of the key
     */
    id: string;
    /**
     * id of its organization
     */
    organization_id: string;
    /**
     * for people
     */
    name: string;
    /**
     * what it is for
     */
    kind: 'service' | 'integration' | 'personal' | 'team' | 'organization' | 'admin';
    /**
     * how the secret begins
     */
    prefix: string;
    /**
     * how it ends
     */
    last_four: string;
    /**
     * whether it is refused where data would change
     */
    read_only: boolean;
    /**
     * the only one that a service key reaches; null: all. For another key, the one whose passages its blocks of context may have; null: none
     */
    namespace: string | null;
    /**
     * id of the only source the key reaches; null: all
     */
    source: string | null;
    /**
     * of calls that name none
     */
    default_namespace: string | null;
    /**
     * rights of an integration's key
     */
    scopes: Array<string>;
    /**
     * id of the integration that it belongs to
     */
    integration: string | null;
    /**
     * name of that integration
     */
    integration_name: string | null;
    /**
     * the only one a personal key reaches
     */
    end_user_id: string | null;
    /**
     * of the key itself, by rate class
     */
    limits: {
        [key: string]: AdminRate;
    };
    /**
     * id of the key or member that made it, cli (the command line) or bootstrap (the program, for commands on its machine); null: not known
     */
    created_by: string | null;
    created_at: string;
    /**
     * about half a minute late
     */
    last_used_at: string | null;
    /**
     * null: never
     */
    expires_at: string | null;
    /**
     * null: it was not
     */
    revoked_at: string | null;
    /**
     * whether it works
     */
    state: 'live' | 'expired' | 'revoked';
    /**
     * the key itself; it is not shown again
     */
    secret: string;
};

export type AdminJob = {
    id: string;
    organization_id: string;
    /**
     * what it does, such as documents.write
     */
    kind: string;
    /**
     * name of the namespace that it works on; null: it works on an end user's memories, or a whole organization
     */
    namespace: string | null;
    /**
     * id of the end user's integration; null: it works on a namespace
     */
    integration: string | null;
    /**
     * whose memories it works on; null: it works on a namespace
     */
    end_user_id: string | null;
    status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
    /**
     * it was asked to end early, and has not ended yet
     */
    cancelling: boolean;
    /**
     * progress, such as documents stored
     */
    done: number;
    /**
     * what done is when all is done
     */
    total: number;
    /**
     * attempts begun
     */
    tries: number;
    /**
     * when it is tried again; null: no attempt was put off
     */
    next_attempt: string | null;
    /**
     * why it failed or was cancelled
     */
    error: AdminJobError | null;
    created_at: string;
    /**
     * of the first attempt
     */
    started_at: string | null;
    updated_at: string;
    /**
     * null: it has not ended
     */
    finished_at: string | null;
    /**
     * until when an ended job can be read
     */
    expires_at: string | null;
};

export type AdminJobError = {
    /**
     * as of an error
     */
    code: string;
    message: string;
};

export type AdminJobs = {
    jobs: Array<AdminJob>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type AdminKey = {
    /**
     * id of the key
     */
    id: string;
    /**
     * id of its organization
     */
    organization_id: string;
    /**
     * for people
     */
    name: string;
    /**
     * what it is for
     */
    kind: 'service' | 'integration' | 'personal' | 'team' | 'organization' | 'admin';
    /**
     * how the secret begins
     */
    prefix: string;
    /**
     * how it ends
     */
    last_four: string;
    /**
     * whether it is refused where data would change
     */
    read_only: boolean;
    /**
     * the only one that a service key reaches; null: all. For another key, the one whose passages its blocks of context may have; null: none
     */
    namespace: string | null;
    /**
     * id of the only source the key reaches; null: all
     */
    source: string | null;
    /**
     * of calls that name none
     */
    default_namespace: string | null;
    /**
     * rights of an integration's key
     */
    scopes: Array<string>;
    /**
     * id of the integration that it belongs to
     */
    integration: string | null;
    /**
     * name of that integration
     */
    integration_name: string | null;
    /**
     * the only one a personal key reaches
     */
    end_user_id: string | null;
    /**
     * of the key itself, by rate class
     */
    limits: {
        [key: string]: AdminRate;
    };
    /**
     * id of the key or member that made it, cli (the command line) or bootstrap (the program, for commands on its machine); null: not known
     */
    created_by: string | null;
    created_at: string;
    /**
     * about half a minute late
     */
    last_used_at: string | null;
    /**
     * null: never
     */
    expires_at: string | null;
    /**
     * null: it was not
     */
    revoked_at: string | null;
    /**
     * whether it works
     */
    state: 'live' | 'expired' | 'revoked';
};

export type AdminKeys = {
    keys: Array<AdminKey>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type AdminNamespace = {
    name: NamespaceName;
    documents: number;
    chunks: number;
    /**
     * whether it has a learned-sparse index
     */
    sparse: boolean;
    /**
     * that keyword search takes its texts for; auto: each chunk tells its own
     */
    language: 'auto' | 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'sv' | 'tr' | 'ru' | 'ar' | 'hi';
    /**
     * model of its vectors
     */
    embedding_model: string;
    /**
     * whether that model was chosen for it; false: it has the server's default
     */
    embedding_model_chosen: boolean;
    /**
     * false: its vectors are of other models than it is to have, the configured ones or the one that was chosen for it, and it is to be reindexed
     */
    current: boolean;
    /**
     * what reindexing it has made or kept beside it; null: nothing
     */
    shadow: AdminShadow | null;
    updated_at: string;
};

export type AdminNamespaceLine = {
    type: 'namespace';
    data: DatasetNamespace;
    /**
     * SHA-256 of the type, a line feed and data as it is written; base64url without padding
     */
    hash: string;
    /**
     * SHA-256 of the line before's chain (32 zero bytes at first) and hash; base64url without padding. That of the last line is a hash over everything
     */
    chain: string;
};

export type AdminNamespaces = {
    namespaces: Array<AdminNamespace>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type AdminOrganization = {
    id: string;
    /**
     * unique; in paths as good as the id
     */
    name: string;
    /**
     * true: all its keys answer 403
     */
    suspended: boolean;
    /**
     * when its deletion began; null: it did not
     */
    deleting_at: string | null;
    created_at: string;
    /**
     * of several databases the one that it lies in
     */
    database?: string;
};

export type AdminOrganizationDeletion = {
    /**
     * id of the organization; null: there is none of that name
     */
    id: string | null;
    /**
     * the job that deletes it; null: there is no organization
     */
    job_id: string | null;
    /**
     * deleted: nothing of it is left; absent: there was nothing to delete
     */
    status: 'deleting' | 'deleted' | 'absent';
    /**
     * namespaces and end users removed
     */
    done: number;
    /**
     * what done is when all are; 0 until they are counted
     */
    total: number;
    /**
     * what was removed so far
     */
    deleted: AdminOrganizationRemoved;
    /**
     * when nothing was left
     */
    deleted_at: string | null;
};

export type AdminOrganizationLine = {
    type: 'organization';
    data: DatasetOrganization;
    /**
     * SHA-256 of the type, a line feed and data as it is written; base64url without padding
     */
    hash: string;
    /**
     * SHA-256 of the line before's chain (32 zero bytes at first) and hash; base64url without padding. That of the last line is a hash over everything
     */
    chain: string;
};

export type AdminOrganizationRemoved = {
    namespaces: number;
    documents: number;
    end_users: number;
    memories: number;
    integrations: number;
    keys: number;
    /**
     * records of background work
     */
    jobs: number;
};

export type AdminOrganizations = {
    organizations: Array<AdminOrganization>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type AdminPartitionLine = {
    type: 'partition';
    data: DatasetPartition;
    /**
     * SHA-256 of the type, a line feed and data as it is written; base64url without padding
     */
    hash: string;
    /**
     * SHA-256 of the line before's chain (32 zero bytes at first) and hash; base64url without padding. That of the last line is a hash over everything
     */
    chain: string;
};

export type AdminQuotaChange = {
    /**
     * 0: unlimited
     */
    memories_per_end_user?: number | null;
    /**
     * searches and reads a minute; 0: unlimited
     */
    read_rate_per_min?: number | null;
    /**
     * memories a minute; 0: unlimited
     */
    write_rate_per_min?: number | null;
};

export type AdminQuotas = {
    /**
     * 0: unlimited
     */
    memories_per_end_user: number;
    /**
     * searches and reads a minute; 0: unlimited
     */
    read_rate_per_min: number;
    /**
     * memories a minute; 0: unlimited
     */
    write_rate_per_min: number;
};

export type AdminRate = {
    /**
     * calls a minute; 0: unlimited
     */
    per_minute: number;
    /**
     * calls at once; 0: a tenth of a minute's worth
     */
    burst?: number;
};

export type AdminRateChange = {
    /**
     * calls a minute; 0: unlimited
     */
    per_minute: number;
    /**
     * calls at once; 0: a tenth of a minute's worth
     */
    burst?: number;
};

export type AdminReindex = {
    /**
     * also where the vectors are of the configured models; default: false
     */
    force?: boolean;
    /**
     * build and compare, but keep serving the current vectors; the next call without hold swaps; default: false
     */
    hold?: boolean;
    /**
     * go back to the vectors served before the last swap, with everything written since; force is ignored then; default: false
     */
    back?: boolean;
    /**
     * queries to compare by; none: made from fifty random documents
     */
    queries?: Array<string>;
    /**
     * language that keyword search takes its texts for from the swap on; auto: each chunk tells its own; left out: as it is
     */
    language?: 'auto' | 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'sv' | 'tr' | 'ru' | 'ar' | 'hi';
    /**
     * lowest comparison.overlap that swaps; below it the new vectors are held; default: 0
     */
    min_overlap?: number;
    /**
     * embedding model that it has of its own from the swap on, by the id that GET /models?kind=embedding lists; empty: the server's default again; left out: as it is
     */
    embedding_model?: string | null;
};

export type AdminReindexFailed = {
    code: string;
    message: string;
};

export type AdminReindexUser = {
    /**
     * also where the vectors are of the configured models; default: false
     */
    force?: boolean;
};

export type AdminReindexing = {
    /**
     * of the namespace, or the end user's id
     */
    name: string;
    /**
     * held: built and not served, as was asked for or because the comparison fell short; unchanged: the vectors were of the configured models already
     */
    status: 'waiting' | 'running' | 'succeeded' | 'held' | 'failed' | 'unchanged';
    /**
     * documents, or memories, encoded
     */
    done: number;
    /**
     * documents to encode
     */
    total: number;
    /**
     * documents stored with new vectors, once it has succeeded
     */
    documents: number;
    /**
     * their chunks
     */
    chunks: number;
    /**
     * why it failed; what is served is then as it was
     */
    error: AdminReindexFailed | null;
    /**
     * what the same queries find in what was served and in what was made; null: not compared, as the model before is not loaded, or not yet
     */
    comparison: ReindexComparison | null;
};

export type AdminRevoked = {
    /**
     * false: it was revoked already
     */
    revoked: boolean;
};

export type AdminRotateKey = {
    /**
     * seconds after which the old key ends; 0: at once; default: 86400
     */
    overlap_seconds?: number | null;
    /**
     * when the new key ends, in the future; default: as long as the old one was made for
     */
    expires_at?: string | null;
};

export type AdminShadow = {
    /**
     * building: being made, or held; kept: what was served before the last swap
     */
    state: 'building' | 'kept';
    /**
     * model of its vectors
     */
    embedding_model: string;
    documents: number;
    chunks: number;
};

export type AdminTrailerLine = {
    type: 'trailer';
    data: DatasetTrailer;
    /**
     * SHA-256 of the type, a line feed and data as it is written; base64url without padding
     */
    hash: string;
    /**
     * SHA-256 of the line before's chain (32 zero bytes at first) and hash; base64url without padding. That of the last line is a hash over everything
     */
    chain: string;
};

export type AdminUngranted = {
    /**
     * grants of sources, by the erasure or before
     */
    revoked: number;
    /**
     * of these, those that their upstream did not take back in time: they may be good there still
     */
    unanswered: number;
};

export type AuditProblem = {
    /**
     * number of the record
     */
    seq: number;
    /**
     * removed: it is not there; changed: it is not what was recorded; inserted: it does not follow the one before
     */
    kind: 'removed' | 'changed' | 'inserted';
};

export type AuditRecord = {
    /**
     * number in the log; of what other organizations do there are numbers, too
     */
    seq: number;
    id: string;
    at: string;
    /**
     * whose data it was about; null: no organization's
     */
    organization_id: string | null;
    /**
     * member: a person who signed in to the console; anonymous: a caller without a valid key, who was refused; cli: a command on the server's machine; system: background work
     */
    actor: 'key' | 'member' | 'anonymous' | 'cli' | 'system';
    /**
     * of a member the member's id; null: no key
     */
    key_id: string | null;
    /**
     * name of the operation; of background work job. and the kind of job; of a command cli. and its name; console.sign_in, console.invitation, console.password, console.account and console.unbind for what people do to sign in
     */
    action: string;
    /**
     * id or name of what it was done to, an end user as a keyed hash; null: told by the action
     */
    target: string | null;
    /**
     * of the call, as in X-Request-Id and in the server's log
     */
    request_id: string | null;
    /**
     * HTTP status that it led to
     */
    status: number;
    /**
     * names of the fields that the request set
     */
    fields: Array<string>;
    /**
     * hash of the record before
     */
    previous: string;
    /**
     * SHA-256 of this record
     */
    hash: string;
};

export type AuditRecords = {
    records: Array<AuditRecord>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type AuditVerification = {
    /**
     * no record has been removed, changed or put in
     */
    intact: boolean;
    /**
     * how many were read
     */
    records: number;
    /**
     * number of the last one that was removed because its time was up; 0: none
     */
    trimmed: number;
    /**
     * number of the last one; 0: there is none
     */
    last: number;
    /**
     * hash of the last one; keep last:hash elsewhere, and give it to a later verification
     */
    hash: string;
    /**
     * the first thing that is wrong; null: nothing is
     */
    problem: AuditProblem | null;
};

export type CheckOutcome = {
    name: string;
    query: string;
    /**
     * every document that it should find is among the first
     */
    passed: boolean;
    /**
     * ids of expected documents that are not among the first
     */
    missing: Array<string>;
    /**
     * ids of the first documents, best first
     */
    found: Array<string>;
    /**
     * ids among the first now that were not when it was saved
     */
    came: Array<string>;
    /**
     * ids among the first when it was saved that are not now
     */
    left: Array<string>;
    /**
     * the first documents are others than when it was saved, or in another order
     */
    changed: boolean;
    /**
     * parts left out of the answer
     */
    degraded: Array<string>;
    /**
     * why it could not be asked, which does not pass; null: it was asked
     */
    error: string | null;
};

export type CheckRemoved = {
    /**
     * false: there was no such query
     */
    deleted: boolean;
};

export type CheckReport = {
    /**
     * how many pass
     */
    passed: number;
    /**
     * how many do not
     */
    failed: number;
    /**
     * of every saved query, by name
     */
    outcomes: Array<CheckOutcome>;
};

export type CheckSave = {
    /**
     * the question
     */
    query: string;
    /**
     * ids of the documents that must be among the first; none: whatever is found passes, and a run says what has changed
     */
    expect: Array<DocumentId>;
    /**
     * how many documents are the first; default: 10
     */
    within?: number | null;
    /**
     * which retrievers are asked; default: all that the namespace has
     */
    retrievers?: Array<'vector' | 'keyword' | 'sparse'> | null;
    /**
     * short for retrievers: all, or one
     */
    mode?: 'hybrid' | 'vector' | 'keyword' | 'sparse';
    /**
     * how much each retriever counts, as in a query
     */
    weights?: {
        [key: string]: number;
    } | null;
    /**
     * language that keyword search takes the query for, as in a query
     */
    language?: 'auto' | 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'sv' | 'tr' | 'ru' | 'ar' | 'hi';
    /**
     * only documents whose metadata match
     */
    filter?: Filter;
    /**
     * whether, and how, a model rescores what was found; default: false
     */
    rerank?: boolean | QueryRerank | null;
    /**
     * least score of a document; only with rerank or with the vector retriever alone
     */
    min_score?: number | null;
};

export type CheckSaved = {
    name: string;
    /**
     * the question
     */
    query: string;
    /**
     * ids of the documents that must be among the first; none: whatever is found passes, and a run says what has changed
     */
    expect: Array<DocumentId>;
    /**
     * how many documents are the first; default: 10
     */
    within?: number;
    /**
     * which retrievers are asked; default: all that the namespace has
     */
    retrievers?: Array<'vector' | 'keyword' | 'sparse'>;
    /**
     * short for retrievers: all, or one
     */
    mode?: 'hybrid' | 'vector' | 'keyword' | 'sparse';
    /**
     * how much each retriever counts, as in a query
     */
    weights?: {
        [key: string]: number;
    };
    /**
     * language that keyword search takes the query for, as in a query
     */
    language?: 'auto' | 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'sv' | 'tr' | 'ru' | 'ar' | 'hi';
    /**
     * only documents whose metadata match
     */
    filter?: Filter;
    /**
     * whether, and how, a model rescores what was found; default: false
     */
    rerank?: boolean | QueryRerankOutput | null;
    /**
     * least score of a document; only with rerank or with the vector retriever alone
     */
    min_score?: number;
    /**
     * ids of the first documents when it was saved, best first
     */
    found: Array<string>;
    created_at: string;
    /**
     * when it was saved last
     */
    updated_at: string;
};

export type CheckSavedList = {
    /**
     * all of them, by name; a namespace has 100 at most
     */
    queries: Array<CheckSaved>;
};

export type CheckSource = {
    /**
     * as in GET /source_kinds
     */
    kind: string;
    /**
     * settings, an object as the kind's schema wants it
     */
    config?: unknown;
    /**
     * as the kind's schema wants them
     */
    secrets?: {
        [key: string]: string;
    };
    /**
     * source whose secrets are used where none are given
     */
    source_id?: string;
};

/**
 * 1-128 characters of A-Z a-z 0-9 . _ : -
 */
export type ContainerTag = string;

export type CreateNamespace = {
    /**
     * name of the namespace
     */
    name: NamespaceName;
    /**
     * whether the namespace has a learned-sparse index; default: false
     */
    sparse?: boolean;
    /**
     * language that keyword search takes its texts and queries for; auto: each chunk and query tells its own; default: auto
     */
    language?: 'auto' | 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'sv' | 'tr' | 'ru' | 'ar' | 'hi';
    /**
     * embedding model of its own, by the id that GET /models?kind=embedding lists; empty: the server's default, also when that changes
     */
    embedding_model?: string;
};

export type CreateSource = {
    /**
     * for people
     */
    name: string;
    /**
     * as in GET /source_kinds
     */
    kind: string;
    /**
     * namespace to keep in step; it is made when there is none
     */
    namespace: NamespaceName;
    /**
     * settings, an object as the kind's schema wants it
     */
    config?: unknown;
    /**
     * as the kind's schema wants them; written, never read back
     */
    secrets?: {
        [key: string]: string;
    };
    /**
     * when runs begin by themselves; left out: they do not
     */
    schedule?: SourceSchedule | null;
    /**
     * what becomes of documents whose items are gone; left out: as is usual for the kind, propagate for most
     */
    deletions?: 'propagate' | 'keep';
    /**
     * false: it is paused; default: true
     */
    enabled?: boolean | null;
    /**
     * whether the first run begins at once; default: true
     */
    start?: boolean | null;
};

export type DatasetContents = {
    /**
     * name or id; absent: all
     */
    organization?: string;
    /**
     * absent: all
     */
    namespaces?: Array<string>;
    /**
     * with end users and their memories
     */
    memories: boolean;
    /**
     * with chunk layouts and vectors
     */
    vectors: boolean;
    /**
     * with API keys, as hashes, and accepted writes that are not done yet
     */
    keys: boolean;
    /**
     * with what signs cursors and OAuth sessions
     */
    secrets: boolean;
};

export type DatasetCounts = {
    organizations?: number;
    integrations?: number;
    keys?: number;
    operations?: number;
    namespaces?: number;
    end_users?: number;
    /**
     * memories among them
     */
    documents?: number;
    chunks?: number;
    /**
     * UTF-8 bytes of texts
     */
    bytes?: number;
    links?: number;
    records?: number;
    receipts?: number;
    replays?: number;
    secrets?: number;
};

export type DatasetDocument = {
    id: string;
    text: string;
    metadata?: Metadata;
    /**
     * SHA-256 of the text, in hexadecimal
     */
    text_sha256: string;
    /**
     * SHA-256 of the metadata in their compact form with sorted keys, empty for none; in hexadecimal
     */
    metadata_sha256: string;
    /**
     * places of the chunks in the text, packed
     */
    chunks?: string;
    /**
     * vectors of the chunks, packed half floats
     */
    dense?: string;
    /**
     * learned-sparse vectors of the chunks, packed
     */
    sparse?: string;
    source_id?: string;
    origin: PortOrigin;
    created_at?: string;
    updated_at?: string;
    container?: string;
    content_key?: string;
    source?: string;
    external_id?: string;
};

export type DatasetEnd = {
    /**
     * change number of the snapshot
     */
    seq: number;
    /**
     * of an end user; a search moves it, so it is no part of the hash
     */
    last_seen_at?: string;
    counts: DatasetCounts;
    /**
     * SHA-256 over the hashes of the lines before, from the namespace line on; in hexadecimal. The same data has the same hash on every server
     */
    hash: string;
};

export type DatasetFailure = {
    /**
     * as in answers with an error
     */
    code: string;
    message: string;
};

export type DatasetHeader = {
    format: 'mneme.dataset';
    version: 1;
    /**
     * of the data set: set_ and 24 hexadecimal digits
     */
    id: string;
    /**
     * version that wrote it
     */
    program: string;
    /**
     * component that it was read from; empty when a server wrote it
     */
    store: string;
    /**
     * partition: each namespace and each end user is consistent in itself
     */
    snapshot: string;
    created_at: string;
    contents: DatasetContents;
    /**
     * what there was when it was begun
     */
    planned: DatasetCounts;
};

export type DatasetModels = {
    embedding_model?: string;
    embedding_digest?: string;
    dimensions?: number;
    sparse_model?: string;
    sparse_digest?: string;
    chunker?: string;
};

export type DatasetNamespace = {
    /**
     * whether it has a learned-sparse index
     */
    sparse: boolean;
    /**
     * that keyword search takes its texts for; absent: each tells its own
     */
    language?: string;
    /**
     * embedding model that was chosen for it; absent: the server's default
     */
    embedder?: string;
    /**
     * absent without vectors
     */
    models?: DatasetModels;
    created_at?: string;
    updated_at?: string;
};

export type DatasetOrganization = {
    id: string;
    name: string;
    suspended?: boolean;
    created_at?: string;
};

export type DatasetPartition = {
    organization: string;
    space: 'documents' | 'memories';
    integration?: string;
    /**
     * of the namespace, or the end user's id
     */
    name: string;
};

export type DatasetTrailer = {
    counts: DatasetCounts;
    /**
     * before this one
     */
    lines: number;
};

export type Degraded = {
    /**
     * what was left out, or took part with less
     */
    part: 'vector' | 'keyword' | 'sparse' | 'rerank' | 'answer';
    /**
     * why; truncated: it took part, and its model read only the beginning of the query
     */
    reason: 'model_off' | 'timeout' | 'error' | 'truncated';
};

export type DeleteDocuments = {
    /**
     * documents to delete; those that do not exist are skipped
     */
    ids?: Array<DocumentId> | null;
    /**
     * deletes every document that it matches
     */
    filter?: Filter;
};

export type Document = {
    id: DocumentId;
    text: string;
    metadata: Metadata;
    /**
     * how many chunks it was cut into
     */
    chunks: number;
    /**
     * SHA-256 over text and metadata; the ETag
     */
    content_hash: string;
    /**
     * of the source that keeps it; null: it was written directly
     */
    source_id: string | null;
    created_at: string;
    updated_at: string;
    /**
     * with include=chunks
     */
    chunk_list?: Array<DocumentChunk>;
};

export type DocumentChunk = {
    /**
     * position in the document
     */
    index: number;
    /**
     * UTF-8 byte offset into the text
     */
    start: number;
    /**
     * UTF-8 byte offset after it
     */
    end: number;
    /**
     * headings above it, outermost first, with ' > ' between them; outer ones are left out where all would be long
     */
    heading?: string;
    text: string;
};

export type DocumentDeletedSome = {
    /**
     * documents removed by this call
     */
    deleted: number;
    /**
     * true: matches remain, repeat the call
     */
    more: boolean;
};

export type DocumentFailure = {
    /**
     * as of an error
     */
    code: string;
    message: string;
};

export type DocumentHead = {
    id: DocumentId;
    metadata: Metadata;
    /**
     * how many chunks it was cut into
     */
    chunks: number;
    /**
     * SHA-256 over text and metadata; the ETag
     */
    content_hash: string;
    /**
     * of the source that keeps it; null: it was written directly
     */
    source_id: string | null;
    created_at: string;
    updated_at: string;
};

/**
 * 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
 */
export type DocumentId = string;

export type DocumentInput = {
    id: DocumentId;
    /**
     * at most 262144 bytes of UTF-8
     */
    text: string;
    /**
     * for filters; comes back with hits
     */
    metadata?: Metadata;
};

export type DocumentOperation = {
    /**
     * id of the operation
     */
    id: string;
    /**
     * how far it is
     */
    status: 'queued' | 'running' | 'succeeded' | 'failed';
    /**
     * documents that are ready to be stored; all are stored together, at the end
     */
    done: number;
    /**
     * documents of the call
     */
    total: number;
    /**
     * while it is worked on: chunks that have their vectors
     */
    chunks_done?: number;
    /**
     * while it is worked on: chunks that need vectors; those of stored text have theirs
     */
    chunks_total?: number;
    /**
     * code and message of a failed write
     */
    error?: DocumentFailure;
    /**
     * what the synchronous write would have answered
     */
    result?: DocumentWritten;
};

export type DocumentPage = {
    documents: Array<DocumentHead>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type DocumentWritten = {
    namespace: NamespaceName;
    /**
     * whether the namespace has a learned-sparse index
     */
    sparse: boolean;
    /**
     * documents created or changed
     */
    written: number;
    /**
     * documents that were stored already, as they are
     */
    unchanged: number;
    /**
     * chunks of all documents of the call
     */
    chunks: number;
    /**
     * whether every index has the documents; false: one takes them in the background; not in an operation's result
     */
    searchable?: boolean;
    /**
     * one for each document, in the order of the call
     */
    documents: Array<WrittenDocument>;
};

export type DocumentsEvent = {
    /**
     * its kind
     */
    type: string;
    /**
     * when it happened
     */
    timestamp: string;
    data: EventDocumentsData;
};

/**
 * 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
 */
export type EndUserId = string;

export type Event = {
    /**
     * the same in each answer and each delivery
     */
    id: string;
    /**
     * its kind
     */
    type: string;
    /**
     * when it happened
     */
    timestamp: string;
    /**
     * what it tells of; GET /event_kinds has the schema of each kind
     */
    data: {
        [key: string]: unknown;
    };
};

export type EventDelivery = {
    id: string;
    webhook_id: string;
    status: 'pending' | 'succeeded' | 'failed' | 'dropped';
    /**
     * how often it was tried
     */
    attempts: number;
    /**
     * null: it has ended, or waits for an earlier one of the same entity
     */
    next_attempt_at: string | null;
    created_at: string;
};

export type EventDocumentsData = {
    organization_id: string;
    namespace: NamespaceName;
    /**
     * of the documents; many come in several events
     */
    ids: Array<string>;
    /**
     * how many ids there are
     */
    count: number;
    /**
     * number of the change in the namespace: it rises, until the namespace is deleted
     */
    change: number;
    /**
     * of the source that keeps the documents; null: callers write them
     */
    source_id: string | null;
    /**
     * of the call that did it; none: the server did it by itself
     */
    request_id?: string;
};

export type EventKeyData = {
    organization_id: string;
    key_id: string;
    /**
     * kind of key, such as service
     */
    type: string;
    /**
     * of an integration's or a personal key; null: of any other
     */
    integration_id: string | null;
    /**
     * id of the key that made it, cli or bootstrap; null: not known
     */
    created_by: string | null;
};

export type EventKindInfo = {
    /**
     * the type of its events
     */
    name: string;
    summary: string;
    /**
     * the keys that see its events: service, which includes admin keys, or admin alone
     */
    keys: 'service' | 'admin';
    /**
     * JSON Schema of an event's data
     */
    schema: {
        [key: string]: unknown;
    };
    /**
     * an event
     */
    example: NamespaceEvent | DocumentsEvent | RunEvent | SourceEvent | MemoryEvent | UserEvent | QuotaEvent | KeyEvent | ModelEvent | WebhookEvent;
};

export type EventKindList = {
    kinds: Array<EventKindInfo>;
};

export type EventMemoryData = {
    organization_id: string;
    integration_id: string;
    endUserId: EndUserId;
    memoryId: string;
    /**
     * of a memory that a source owns; null: of any other
     */
    source: string | null;
    /**
     * its id in the source
     */
    externalId: string | null;
    /**
     * its version in the source
     */
    version: number | null;
    /**
     * number of the change of the end user's memories: it rises, until an erasure
     */
    change: number;
    /**
     * of the call that did it; none: the server did it by itself
     */
    requestId?: string;
};

export type EventModelData = {
    organization_id: string;
    /**
     * as GET /models has it
     */
    model_id: string;
    /**
     * what it is used for
     */
    kind: 'embedding' | 'sparse' | 'rerank' | 'answer';
    status: 'ready' | 'loading' | 'off' | 'error';
    /**
     * its status before; null: the server has just started
     */
    previous: string | null;
    /**
     * the server that the model works for: each of several sees its own
     */
    replica: string;
};

export type EventNamespaceData = {
    organization_id: string;
    namespace: NamespaceName;
    /**
     * of the call that did it; none: the server did it by itself
     */
    request_id?: string;
};

export type EventPage = {
    /**
     * in their order; of one entity that of the commits
     */
    events: Array<Event>;
    /**
     * for after, also when there are no events
     */
    next_cursor: string;
    /**
     * true: events behind the cursor are forgotten by their age, so the reader has to look at the state itself
     */
    missed: boolean;
};

export type EventQuotaData = {
    organization_id: string;
    quota: 'bytes' | 'documents' | 'namespaces' | 'end_users';
    limit: number;
    /**
     * before the write, which would have gone over the limit
     */
    used: number;
};

export type EventRunCounts = {
    seen: number;
    created: number;
    updated: number;
    unchanged: number;
    deleted: number;
    withheld: number;
    failed: number;
    skipped: number;
};

export type EventRunData = {
    organization_id: string;
    source_id: string;
    namespace: NamespaceName;
    run_id: string;
    status: 'completed' | 'partial' | 'failed' | 'cancelled' | 'interrupted';
    /**
     * code of what it failed with; null: it did not
     */
    error: string | null;
    counts: EventRunCounts;
    /**
     * null: it never began
     */
    started_at: string | null;
};

export type EventSourceData = {
    organization_id: string;
    source_id: string;
    namespace: NamespaceName;
    state: 'idle' | 'syncing' | 'paused' | 'error' | 'deleting';
    /**
     * its state before; null: it is new
     */
    previous: string | null;
    /**
     * code of why the state is error; null: it is another
     */
    reason: string | null;
};

export type EventTold = {
    /**
     * the same in each answer and each delivery
     */
    id: string;
    /**
     * its kind
     */
    type: string;
    /**
     * when it happened
     */
    timestamp: string;
    /**
     * what it tells of; GET /event_kinds has the schema of each kind
     */
    data: {
        [key: string]: unknown;
    };
    /**
     * to webhooks, the newest first, 100 at most; none for keys limited to a namespace
     */
    deliveries: Array<EventDelivery>;
};

export type EventUserData = {
    organization_id: string;
    integration_id: string;
    endUserId: EndUserId;
    deletedMemories: number;
    deletedVectors: number;
};

export type EventWebhookData = {
    organization_id: string;
    webhook_id: string;
    /**
     * gone: its endpoint answered 410; failing: it took nothing for days
     */
    reason: 'gone' | 'failing';
    /**
     * when the first delivery failed that none has succeeded after; null: none has
     */
    failing_since: string | null;
};

/**
 * 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
 */
export type ExternalId = string;

export type File = {
    /**
     * as it was sent
     */
    name: string;
    /**
     * whether its text could be read
     */
    status: 'read' | 'failed';
    /**
     * why it could not be read
     */
    error?: FileFailure;
    /**
     * what it is by its content
     */
    media_type?: string;
    /**
     * SHA-256 of its bytes; also metadata file_hash
     */
    content_hash: string;
    /**
     * that it gives itself
     */
    title?: string;
    /**
     * the last page or slide with text, of a file with pages
     */
    pages?: number;
    /**
     * what became of it, in their order
     */
    documents: Array<FileOutcome>;
};

export type FileAccepted = {
    /**
     * id of the operation
     */
    id: string;
    /**
     * how far it is
     */
    status: 'queued' | 'running' | 'succeeded' | 'failed';
    /**
     * documents that are ready to be stored; all are stored together, at the end
     */
    done: number;
    /**
     * documents of the call
     */
    total: number;
    /**
     * while it is worked on: chunks that have their vectors
     */
    chunks_done?: number;
    /**
     * while it is worked on: chunks that need vectors; those of stored text have theirs
     */
    chunks_total?: number;
    /**
     * code and message of a failed write
     */
    error?: DocumentFailure;
    /**
     * what the synchronous write would have answered
     */
    result?: DocumentWritten;
    /**
     * files that could not be read
     */
    failed: number;
    /**
     * one for each file, in the order of the call
     */
    files: Array<File>;
};

export type FileChunk = {
    /**
     * position in the document
     */
    index: number;
    /**
     * UTF-8 byte offset into the text
     */
    start: number;
    /**
     * UTF-8 byte offset after it
     */
    end: number;
    /**
     * page or slide that it begins on, of a file with pages
     */
    page?: number;
    /**
     * headings above it, outermost first, with ' > ' between them
     */
    heading?: string;
    text: string;
};

export type FileFailure = {
    /**
     * for programs
     */
    code: 'encrypted' | 'no_text' | 'too_large' | 'broken' | 'unsupported' | 'timeout' | 'invalid_metadata';
    /**
     * for people; the file is its subject
     */
    message: string;
};

export type FileForm = {
    /**
     * files to read, each name once
     */
    file: Array<Blob | File>;
    /**
     * a JSON object: metadata of every document, for filters; comes back with hits
     */
    metadata?: string;
};

export type FileFormat = {
    media_type: string;
    /**
     * for people
     */
    name: string;
    /**
     * of file names, with the dot
     */
    extensions: Array<string>;
};

export type FileFormats = {
    formats: Array<FileFormat>;
};

export type FileOutcome = {
    id: DocumentId;
    /**
     * the id was new; not with dry_run or respond-async
     */
    created?: boolean;
    /**
     * the same was stored already; not with dry_run or respond-async
     */
    unchanged?: boolean;
    /**
     * not with respond-async
     */
    chunks?: number;
    /**
     * with dry_run; a form feed begins a page
     */
    text?: string;
    /**
     * with dry_run
     */
    metadata?: Metadata;
    /**
     * with dry_run
     */
    chunk_list?: Array<FileChunk>;
};

export type FileUploaded = {
    namespace: NamespaceName;
    /**
     * documents created or changed
     */
    written: number;
    /**
     * documents that were stored already, as they are
     */
    unchanged: number;
    /**
     * chunks of all documents of the call
     */
    chunks: number;
    /**
     * files that could not be read
     */
    failed: number;
    /**
     * whether every index has the documents; false: one takes them in the background; not with dry_run
     */
    searchable?: boolean;
    /**
     * one for each file, in the order of the call
     */
    files: Array<File>;
};

/**
 * Conditions on metadata, all of which must hold. A plain value is the same as {"$eq": value}. Values compare as text, and an array matches by any of its items. At most 256 conditions, 16 levels deep.
 */
export type Filter = {
    [key: string]: unknown;
};

export type KeyEvent = {
    /**
     * its kind
     */
    type: string;
    /**
     * when it happened
     */
    timestamp: string;
    data: EventKeyData;
};

export type Member = {
    /**
     * id of the member
     */
    id: string;
    /**
     * id of the organization
     */
    organization_id: string;
    /**
     * address, in lower case; unique in the organization
     */
    email: string;
    /**
     * what the member may do
     */
    role: 'owner' | 'admin' | 'viewer';
    /**
     * invited: has never signed in; disabled: may not
     */
    state: 'invited' | 'active' | 'disabled';
    /**
     * false: none was chosen yet
     */
    has_password: boolean;
    /**
     * true: signs in with an account of the identity provider
     */
    has_account: boolean;
    /**
     * when signing in was taken from the member; null: it was not
     */
    disabled_at: string | null;
    /**
     * id of the key or member that invited; null: not known
     */
    invited_by: string | null;
    created_at: string;
    /**
     * of the first sign-in; null: there was none
     */
    joined_at: string | null;
    /**
     * of the invitation that waits; null: there is none
     */
    invitation_expires_at: string | null;
};

export type MemberChange = {
    /**
     * the new role, which holds from the member's next call on
     */
    role?: 'owner' | 'admin' | 'viewer';
    /**
     * true: signs in no more, and all sessions end; false: may again
     */
    disabled?: boolean | null;
    /**
     * false: the account at the identity provider is unbound, and all sessions end; the next account with the verified address is bound instead
     */
    has_account?: boolean | null;
};

export type MemberInvite = {
    /**
     * whom to invite; compared in lower case
     */
    email: string;
    /**
     * owner: everything; admin: everything but members and keys of kind admin; viewer: reads
     */
    role: 'owner' | 'admin' | 'viewer';
};

export type MemberInvited = {
    /**
     * id of the member
     */
    id: string;
    /**
     * id of the organization
     */
    organization_id: string;
    /**
     * address, in lower case; unique in the organization
     */
    email: string;
    /**
     * what the member may do
     */
    role: 'owner' | 'admin' | 'viewer';
    /**
     * invited: has never signed in; disabled: may not
     */
    state: 'invited' | 'active' | 'disabled';
    /**
     * false: none was chosen yet
     */
    has_password: boolean;
    /**
     * true: signs in with an account of the identity provider
     */
    has_account: boolean;
    /**
     * when signing in was taken from the member; null: it was not
     */
    disabled_at: string | null;
    /**
     * id of the key or member that invited; null: not known
     */
    invited_by: string | null;
    created_at: string;
    /**
     * of the first sign-in; null: there was none
     */
    joined_at: string | null;
    /**
     * of the invitation that waits; null: there is none
     */
    invitation_expires_at: string | null;
    /**
     * lets anyone who has it choose the member's password, once; it is not shown again
     */
    code: string;
    /**
     * where it is turned in, below the server's address, with the code behind the #
     */
    path: string;
};

export type MemberRemoved = {
    /**
     * false: there was no such member
     */
    removed: boolean;
};

export type Members = {
    members: Array<Member>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type Memory = {
    id: string;
    content: string;
    /**
     * its container; null: none
     */
    containerTag: string | null;
    metadata: Metadata;
    /**
     * Unix milliseconds
     */
    created_at: number;
    /**
     * Unix milliseconds
     */
    updated_at: number;
    /**
     * of a source-owned memory; else null
     */
    source: string | null;
    /**
     * of a source-owned memory; else null
     */
    externalId: string | null;
};

export type MemoryApplied = {
    success: boolean;
    record: MemoryRecord;
    receipt: MemoryReceipt;
};

export type MemoryBackends = {
    memoryPlane: MemoryPlane;
};

export type MemoryBatch = {
    /**
     * the end user
     */
    endUserId: EndUserId;
    /**
     * memories to save, of at most 1 MiB of content together
     */
    memories: Array<MemoryBatchItem>;
};

export type MemoryBatchItem = {
    /**
     * at most 65536 bytes of UTF-8, not white space alone; an item without it fails
     */
    content?: string | null;
    /**
     * keeps memories apart within an end user; 1-128 characters of A-Z a-z 0-9 . _ : -, else the item fails
     */
    containerTag?: string;
    /**
     * comes back with results; as of a single save, else the item fails
     */
    metadata?: unknown;
    /**
     * RFC 3339, else the item fails; what created_at shows, in place of the time of saving
     */
    occurredAt?: string | null;
};

export type MemoryCited = {
    /**
     * its number in the block
     */
    marker: number;
    memoryId: string;
    /**
     * UTF-8 byte offset, in the memory's content, of what the block shows of it
     */
    start: number;
    /**
     * UTF-8 byte offset after it
     */
    end: number;
    /**
     * 0-1; higher is better
     */
    score: number;
    /**
     * its container; empty: none
     */
    container_tag: string;
    /**
     * Unix milliseconds
     */
    created_at: number;
};

export type MemoryCitedPassage = {
    /**
     * its number in the block
     */
    marker: number;
    namespace: string;
    documentId: string;
    /**
     * of the document; empty: it has none
     */
    title: string;
    /**
     * UTF-8 byte offset, in the document's text, of what the block shows of it
     */
    start: number;
    /**
     * UTF-8 byte offset after it
     */
    end: number;
    /**
     * page or slide that it begins on, of a document with pages
     */
    page?: number;
    /**
     * higher is better; not on the scale of memories
     */
    score: number;
};

export type MemoryContextBlock = {
    success: boolean;
    /**
     * text for a prompt; empty: nothing is known
     */
    context: string;
    /**
     * tokens of context
     */
    tokens: number;
    /**
     * the model whose tokenizer counted; null: the model does not count, and tokens are estimated
     */
    tokenizer: string | null;
    /**
     * one for each marker of a memory
     */
    citations: Array<MemoryCited>;
    /**
     * one for each marker of a passage
     */
    passages: Array<MemoryCitedPassage>;
    /**
     * memories and passages that were found and do not fit
     */
    omitted: number;
    /**
     * parts left out of this answer, or that took part with less, and why
     */
    degraded: Array<Degraded>;
};

export type MemoryContextQuery = {
    /**
     * the end user
     */
    endUserId: EndUserId;
    /**
     * the message that is to be answered
     */
    query: string;
    /**
     * the most tokens that the block may have; default: 1000
     */
    maxTokens?: number | null;
    /**
     * how many memories at most; default: 20
     */
    limit?: number | null;
    /**
     * how many passages of documents at most, from the namespace that the key names; a key that names none gets none; default: 5
     */
    passages?: number | null;
    /**
     * language that keyword search takes the query for; auto: it tells; default: auto
     */
    language?: 'auto' | 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'sv' | 'tr' | 'ru' | 'ar' | 'hi';
    /**
     * only this container's memories
     */
    containerTag?: ContainerTag;
    /**
     * Unix milliseconds; only memories created after it
     */
    createdAfter?: number;
    /**
     * Unix milliseconds; only memories created before it
     */
    createdBefore?: number;
};

export type MemoryCreateGrant = {
    /**
     * the end user
     */
    endUserId: EndUserId;
    /**
     * name of the source system
     */
    source: SourceName;
    /**
     * with which the kind of source of that name gives the grant back upstream; written, never read back
     */
    secrets?: {
        [key: string]: string;
    };
};

export type MemoryDelete = {
    /**
     * the end user
     */
    endUserId: EndUserId;
    /**
     * memories to delete; those that do not exist are skipped
     */
    ids: Array<DocumentId>;
};

export type MemoryDeleted = {
    success: boolean;
    /**
     * memories removed by this call
     */
    deleted: number;
};

export type MemoryErasedUser = {
    success: boolean;
    /**
     * memories removed
     */
    deletedMemories: number;
    /**
     * vectors removed, dense and sparse
     */
    deletedVectors: number;
    /**
     * grants removed, which were revoked first
     */
    revokedGrants: number;
    /**
     * of these, those that their upstream did not take back in time
     */
    unansweredUpstreams: number;
};

export type MemoryEvent = {
    /**
     * its kind
     */
    type: string;
    /**
     * when it happened
     */
    timestamp: string;
    data: EventMemoryData;
};

export type MemoryGrant = {
    /**
     * for the header X-Mneme-Grant
     */
    id: string;
    endUserId: EndUserId;
    /**
     * name of the source system
     */
    source: SourceName;
    /**
     * names of the secrets that it was made with; their values are never answered
     */
    secretsSet: Array<string>;
    createdAt: string;
    /**
     * null: it is live
     */
    revokedAt: string | null;
    /**
     * of a revoked grant that has secrets: whether its upstream has taken it back; else null
     */
    upstream: 'revoked' | 'unanswered';
};

export type MemoryGranted = {
    success: boolean;
    grant: MemoryGrant;
};

export type MemoryGrants = {
    success: boolean;
    grants: Array<MemoryGrant>;
};

export type MemoryIntegration = {
    id: string;
    /**
     * rights of the key
     */
    scopes: Array<string>;
    quotas: MemoryQuotas;
};

export type MemoryMessage = {
    /**
     * the application's id; the same id with another content replaces the message. Without one a message is the same as another of its role and content
     */
    id?: string | null;
    /**
     * who speaks
     */
    role: 'user' | 'assistant' | 'system' | 'developer' | 'tool';
    /**
     * the speaker's name
     */
    name?: string | null;
    /**
     * at most 65536 bytes of UTF-8, not white space alone; kept as it is
     */
    content: string;
    /**
     * comes back with results, beside role, name and messageId
     */
    metadata?: Metadata;
    /**
     * when it was said, in place of the time of the call
     */
    occurredAt?: string | null;
};

export type MemoryMessageOutcome = {
    /**
     * the memory that keeps the message
     */
    memory: MemoryRef;
    /**
     * unchanged: it was there already
     */
    outcome: 'created' | 'updated' | 'unchanged';
};

export type MemoryPage = {
    success: boolean;
    memories: Array<Memory>;
    /**
     * cursor of the next page; null: this is the last
     */
    nextCursor: string | null;
};

export type MemoryPlane = {
    /**
     * whether store and indexes answer
     */
    status: 'ok' | 'error';
    /**
     * as the server is configured
     */
    environment: string;
};

export type MemoryQuery = {
    /**
     * the end user
     */
    endUserId: EndUserId;
    /**
     * the question
     */
    query: string;
    /**
     * how many at most; default: 10
     */
    limit?: number | null;
    /**
     * language that keyword search takes the query for; auto: it tells; default: auto
     */
    language?: 'auto' | 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'sv' | 'tr' | 'ru' | 'ar' | 'hi';
    /**
     * only this container's memories
     */
    containerTag?: ContainerTag;
    /**
     * Unix milliseconds; only memories created after it
     */
    createdAfter?: number;
    /**
     * Unix milliseconds; only memories created before it
     */
    createdBefore?: number;
};

export type MemoryQuotas = {
    memoriesPerEndUser: number;
    readRatePerMin: number;
    writeRatePerMin: number;
};

export type MemoryReceipt = {
    source: SourceName;
    externalId: ExternalId;
    version: number;
    /**
     * upsert or tombstone
     */
    operation: 'upsert' | 'tombstone';
    /**
     * sha256 of the canonical JSON (RFC 8785) of operation and all request fields
     */
    requestHash: string;
    /**
     * created, updated, unchanged, restored or tombstoned
     */
    outcome: 'created' | 'updated' | 'unchanged' | 'restored' | 'tombstoned';
    /**
     * the source's time of the version
     */
    occurredAt: string;
    /**
     * when it was applied
     */
    appliedAt: string;
    /**
     * id of the memory
     */
    documentId: string;
    /**
     * SHA-256 of the content; empty when tombstoned
     */
    contentHash: string;
};

export type MemoryRecord = {
    source: SourceName;
    externalId: ExternalId;
    version: number;
    /**
     * active or tombstoned
     */
    status: 'active' | 'tombstoned';
    /**
     * the source's time of the version
     */
    occurredAt: string;
    /**
     * when it was applied
     */
    updatedAt: string;
    /**
     * id of the memory, the same over all versions
     */
    documentId: string;
    /**
     * SHA-256 of the content; empty when tombstoned
     */
    contentHash: string;
};

export type MemoryRef = {
    /**
     * id of the memory
     */
    id: string;
};

export type MemoryRemember = {
    /**
     * the end user
     */
    endUserId: EndUserId;
    /**
     * the conversation; ids of messages are its own
     */
    containerTag?: ContainerTag;
    /**
     * messages to remember, of at most 1 MiB of content together
     */
    messages: Array<MemoryMessage>;
};

export type MemoryRemembered = {
    success: boolean;
    /**
     * one for each message, in the order of the call
     */
    results: Array<MemoryMessageOutcome>;
};

export type MemoryResult = {
    id: string;
    /**
     * the best part of the memory, at most 2000 characters
     */
    matchedContent: string;
    /**
     * characters of the whole memory
     */
    originalLength: number;
    /**
     * its container; empty: none
     */
    container_tag: string;
    /**
     * 0-1; higher is better
     */
    score: number;
    /**
     * Unix milliseconds
     */
    created_at: number;
    /**
     * Unix milliseconds
     */
    updated_at: number;
    metadata: Metadata;
};

export type MemoryResults = {
    success: boolean;
    /**
     * best first, one for each memory
     */
    results: Array<MemoryResult>;
    /**
     * parts left out of this answer, or that took part with less, and why
     */
    degraded: Array<Degraded>;
};

export type MemorySave = {
    /**
     * the end user
     */
    endUserId: EndUserId;
    /**
     * at most 65536 bytes of UTF-8, not white space alone
     */
    content: string;
    /**
     * keeps memories apart within an end user
     */
    containerTag?: ContainerTag;
    /**
     * comes back with results
     */
    metadata?: Metadata;
    /**
     * what created_at shows, in place of the time of saving
     */
    occurredAt?: string | null;
};

export type MemorySaved = {
    /**
     * whether it was saved
     */
    success: boolean;
    /**
     * the stored memory; absent for a failed item
     */
    memory?: MemoryRef;
    /**
     * the content was there already, in this container
     */
    deduped: boolean;
    /**
     * a new memory was created
     */
    created: boolean;
    /**
     * code and reason of a failed item
     */
    error?: string;
};

export type MemorySavedBatch = {
    /**
     * every item was saved
     */
    success: boolean;
    /**
     * one for each memory, in the order of the call
     */
    results: Array<MemorySaved>;
};

export type MemorySavedOne = {
    /**
     * whether it was saved
     */
    success: boolean;
    /**
     * the stored memory; absent for a failed item
     */
    memory?: MemoryRef;
    /**
     * the content was there already, in this container
     */
    deduped: boolean;
    /**
     * a new memory was created
     */
    created: boolean;
    /**
     * code and reason of a failed item
     */
    error?: string;
};

export type MemoryStatus = {
    /**
     * whether the memory API works
     */
    ok: boolean;
    /**
     * version of the memory API
     */
    apiVersion: string;
    /**
     * as in the header X-Request-Id
     */
    requestId: string;
    integration: MemoryIntegration;
    backends: MemoryBackends;
};

export type MemoryUpsert = {
    /**
     * the end user
     */
    endUserId: EndUserId;
    /**
     * name of the source system
     */
    source: SourceName;
    /**
     * chosen by the source system; only higher ones are applied
     */
    version: number;
    /**
     * at most 65536 bytes of UTF-8, not white space alone
     */
    content: string;
    /**
     * keeps memories apart within an end user
     */
    containerTag?: ContainerTag;
    /**
     * comes back with results
     */
    metadata?: Metadata;
    /**
     * the source's time of this version
     */
    occurredAt: string;
};

/**
 * At most 32 keys and 40960 bytes. Keys have 1-128 characters and don't start with $. Values are strings, numbers, booleans and arrays of at most 1000 strings.
 */
export type Metadata = {
    [key: string]: unknown;
};

export type Model = {
    /**
     * as in requests
     */
    id: string;
    /**
     * what it does
     */
    kind: 'embedding' | 'sparse' | 'rerank' | 'answer';
    /**
     * ready; loading: it is starting; off: no role uses it for this; error: it failed when it was last called, by a caller or by the deep health check, or does not answer
     */
    status: 'ready' | 'loading' | 'off' | 'error';
    /**
     * whether it is what calls use that name none
     */
    default: boolean;
    /**
     * of its vectors; null: it makes none
     */
    dimensions: number | null;
    /**
     * its window; longer texts are cut
     */
    max_input_tokens: number;
    /**
     * BCP 47; empty: not said
     */
    languages: Array<string>;
    /**
     * where it runs; wasm: in the server; plugin: in a process beside it (component process); remote: on another server
     */
    runtime: 'wasm' | 'plugin' | 'remote';
    /**
     * of the model, as its vendor names it; empty: not said
     */
    version: string;
    /**
     * identity of its code and weights
     */
    digest: string;
    /**
     * SPDX identifier
     */
    license: string;
};

export type ModelEvent = {
    /**
     * its kind
     */
    type: string;
    /**
     * when it happened
     */
    timestamp: string;
    data: EventModelData;
};

export type ModelList = {
    models: Array<Model>;
};

export type Namespace = {
    name: NamespaceName;
    /**
     * whether it has a learned-sparse index
     */
    sparse: boolean;
    /**
     * that keyword search takes its texts for; auto: each chunk and query tells its own
     */
    language: 'auto' | 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'sv' | 'tr' | 'ru' | 'ar' | 'hi';
    documents: number;
    chunks: number;
    /**
     * UTF-8 bytes of the documents' texts
     */
    bytes: number;
    /**
     * model of its vectors
     */
    embedding_model: string;
    /**
     * identity of that model
     */
    embedding_digest: string;
    /**
     * whether that model was chosen for it; false: it has the server's default
     */
    embedding_model_chosen: boolean;
    /**
     * model of its sparse vectors; null: it has none
     */
    sparse_model: string | null;
    created_at: string;
    /**
     * of the last change of a document
     */
    updated_at: string;
};

export type NamespaceCreated = {
    name: NamespaceName;
    sparse: boolean;
    language: 'auto' | 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'sv' | 'tr' | 'ru' | 'ar' | 'hi';
    /**
     * model that makes its vectors; empty: it is off
     */
    embedding_model: string;
};

export type NamespaceDeleted = {
    /**
     * false: there was no such namespace
     */
    deleted: boolean;
};

export type NamespaceEvent = {
    /**
     * its kind
     */
    type: string;
    /**
     * when it happened
     */
    timestamp: string;
    data: EventNamespaceData;
};

/**
 * 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
 */
export type NamespaceName = string;

export type NamespacePage = {
    namespaces: Array<Namespace>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type PortOrigin = {
    kind: string;
    key_id?: string;
    source_id?: string;
};

export type PortSourceCounts = {
    /**
     * items that the listing has named
     */
    seen: number;
    /**
     * items that are new
     */
    created: number;
    /**
     * items whose documents have changed
     */
    updated: number;
    /**
     * items whose documents stay as they were
     */
    unchanged: number;
    /**
     * documents deleted because their items are gone
     */
    deleted: number;
    /**
     * documents whose items are gone, kept because they are suspiciously many
     */
    withheld: number;
    /**
     * items that could not be read; their documents stay as they were
     */
    failed: number;
    /**
     * items that are not read on purpose
     */
    skipped: number;
};

export type QueryExplain = {
    vector: QueryRank | null;
    keyword: QueryRank | null;
    sparse: QueryRank | null;
    fused: QueryRank | null;
    rerank: QueryRank | null;
};

export type QueryHit = {
    /**
     * namespace/document_id
     */
    id: string;
    document_id: DocumentId;
    /**
     * position of the chunk in the document
     */
    chunk_index: number;
    /**
     * UTF-8 byte offset into the document's text
     */
    start: number;
    /**
     * UTF-8 byte offset after it
     */
    end: number;
    /**
     * page or slide that the chunk begins on, of a document with pages
     */
    page?: number;
    /**
     * headings above the chunk, outermost first, with ' > ' between them; outer ones are left out where all would be long
     */
    heading?: string;
    /**
     * unless include_text is false
     */
    text?: string;
    /**
     * higher is better; what it is says score_kind
     */
    score: number;
    /**
     * unless include_metadata is false
     */
    metadata?: Metadata;
    /**
     * neighbours before the chunk
     */
    before: Array<QueryNeighbor>;
    /**
     * neighbours after the chunk
     */
    after: Array<QueryNeighbor>;
    /**
     * with explain
     */
    explain?: QueryExplain;
};

export type QueryNeighbor = {
    chunk_index: number;
    start: number;
    end: number;
    text?: string;
};

export type QueryRank = {
    /**
     * place in the list, from 1
     */
    rank: number;
    /**
     * score in the list
     */
    score: number;
    /**
     * terms of the query that the chunk has
     */
    terms?: Array<string>;
    /**
     * keyword: where the chunk's text has words of the query, in rising order; absent where the index does not tell, empty where its headings alone have them
     */
    spans?: Array<QuerySpan>;
};

export type QueryRequest = {
    /**
     * the question
     */
    query: string;
    /**
     * chunks to answer; default: 10
     */
    top_k?: number | null;
    /**
     * how to look for candidates; default: all that the namespace has
     */
    retrievers?: Array<'vector' | 'keyword' | 'sparse'> | null;
    /**
     * short for retrievers: all, or one
     */
    mode?: 'hybrid' | 'vector' | 'keyword' | 'sparse';
    /**
     * how much each retriever counts in the fusion; those not named keep the configured weight, and one of weight 0 is not asked
     */
    weights?: {
        [key: string]: number;
    } | null;
    /**
     * language that keyword search takes the query for; auto: it tells; default: that of the namespace
     */
    language?: 'auto' | 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'sv' | 'tr' | 'ru' | 'ar' | 'hi';
    /**
     * only documents whose metadata match
     */
    filter?: Filter;
    /**
     * whether, and how, a model rescores the candidates; default: false
     */
    rerank?: boolean | QueryRerank | null;
    /**
     * least score of a hit; only with rerank or with the vector retriever alone; not applied to an answer whose reranking degraded
     */
    min_score?: number | null;
    /**
     * 1 gives one hit for each document; default: 100
     */
    max_chunks_per_document?: number | null;
    /**
     * 0-2 adjacent chunks on each side; default: 0
     */
    neighbors?: number | null;
    /**
     * whether hits have their text; default: true
     */
    include_text?: boolean | null;
    /**
     * whether hits have their metadata; default: true
     */
    include_metadata?: boolean | null;
    /**
     * adds ranks and scores per retriever; default: false
     */
    explain?: boolean | null;
    /**
     * whether a failed retriever or reranker fails the query, instead of being named in degraded; default: false
     */
    strict?: boolean | null;
};

export type QueryRerank = {
    /**
     * a rerank model of this server
     */
    model?: string;
    /**
     * candidates to score; default top_k x 2, at most what the server is configured to (40)
     */
    depth?: number | null;
};

export type QueryRerankOutput = {
    /**
     * a rerank model of this server
     */
    model?: string;
    /**
     * candidates to score; default top_k x 2, at most what the server is configured to (40)
     */
    depth?: number;
};

export type QueryResult = {
    /**
     * best first
     */
    results: Array<QueryHit>;
    /**
     * what the scores are
     */
    score_kind: 'rerank' | 'cosine' | 'bm25' | 'sparse' | 'fused';
    /**
     * the reranker that ran, else null
     */
    model: string | null;
    /**
     * those that were used
     */
    retrievers: Array<'vector' | 'keyword' | 'sparse'>;
    /**
     * parts left out of this answer, or that took part with less, and why
     */
    degraded: Array<Degraded>;
    /**
     * texts cut at the reranker's window
     */
    truncated_candidates: number;
    /**
     * milliseconds on the server
     */
    took_ms: number;
};

export type QuerySpan = {
    /**
     * UTF-8 byte offset into the chunk's text
     */
    start: number;
    /**
     * UTF-8 byte offset after it
     */
    end: number;
};

export type QuotaEvent = {
    /**
     * its kind
     */
    type: string;
    /**
     * when it happened
     */
    timestamp: string;
    data: EventQuotaData;
};

export type RecallAnswer = {
    success: boolean;
    /**
     * null when the memories hold no answer
     */
    answer: string | null;
    /**
     * whether the memories hold no answer
     */
    abstained: boolean;
    /**
     * extractive, or the language model that wrote the answer
     */
    model: string;
    citations: Array<RecallCitation>;
    /**
     * the memories used, as in search
     */
    results: Array<MemoryResult>;
    /**
     * parts left out of this answer, and why
     */
    degraded: Array<Degraded>;
    usage: RecallUsage;
};

export type RecallCitation = {
    /**
     * its number in the answer
     */
    marker: number;
    memoryId: string;
    /**
     * a verbatim slice of the memory
     */
    quote: string;
    /**
     * UTF-8 byte offset of the quote in the memory's content
     */
    start: number;
    /**
     * UTF-8 byte offset after it
     */
    end: number;
    /**
     * 0-1
     */
    score: number;
    /**
     * Unix milliseconds
     */
    created_at: number;
};

export type RecallRequest = {
    /**
     * the end user
     */
    endUserId: EndUserId;
    /**
     * the question
     */
    query: string;
    /**
     * how many memories to use at most; default: 8
     */
    limit?: number | null;
    /**
     * how long the answer may be; default: 400
     */
    maxAnswerTokens?: number | null;
    /**
     * language that keyword search takes the query for; auto: it tells; default: auto
     */
    language?: 'auto' | 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'sv' | 'tr' | 'ru' | 'ar' | 'hi';
    /**
     * only this container's memories
     */
    containerTag?: ContainerTag;
    /**
     * Unix milliseconds; only memories created after it
     */
    createdAfter?: number;
    /**
     * Unix milliseconds; only memories created before it
     */
    createdBefore?: number;
};

export type RecallUsage = {
    inputTokens: number;
    outputTokens: number;
};

export type ReindexComparison = {
    /**
     * how many were asked
     */
    queries: number;
    /**
     * mean share of the ten best documents that are the same
     */
    overlap: number;
    /**
     * of queries made from documents, the share that finds its own among the ten best, before; null: the caller's queries
     */
    found_before: number | null;
    /**
     * the same, after
     */
    found_after: number | null;
};

export type RerankAliasRequest = {
    /**
     * a rerank model of this server, or an alias of one; empty or absent: the default
     */
    model?: string | null;
    /**
     * the question, at most 8192 characters
     */
    query: string;
    /**
     * texts, or objects with a text; a server may be configured for up to 1000
     */
    documents: Array<string | {
        text: string;
    }>;
    /**
     * how many to answer; default: all
     */
    top_n?: number | null;
    /**
     * default true for /v1/rerank, false for /v2/rerank
     */
    return_documents?: boolean | null;
    /**
     * the model's window applies, too
     */
    max_tokens_per_doc?: number | null;
    /**
     * one chunk of the model's window is read
     */
    max_chunks_per_doc?: number | null;
    /**
     * documents are ranked by their text
     */
    rank_fields?: Array<'text'> | null;
    /**
     * texts are cut at the model's window
     */
    truncation?: boolean | null;
    /**
     * the same
     */
    truncate?: boolean | null;
    /**
     * no embeddings are answered
     */
    return_embeddings?: boolean | null;
    /**
     * without effect
     */
    priority?: number | null;
    /**
     * without effect
     */
    user?: string | null;
};

export type RerankAliasScored = {
    /**
     * position in documents
     */
    index: number;
    /**
     * probability of relevance
     */
    relevance_score: number;
    /**
     * with return_documents
     */
    document?: string | {
        text: string;
    };
};

export type RerankMeta = {
    api_version: {
        version: string;
    };
    billed_units: {
        /**
         * one for each 100 documents begun
         */
        search_units: number;
    };
    /**
     * that texts were cut at the model's window
     */
    warnings?: Array<string>;
};

export type RerankRequest = {
    /**
     * the question, at most 8192 characters
     */
    query: string;
    /**
     * texts to score, each cut at the model's window; a server may be configured for up to 1000
     */
    documents: Array<string>;
    /**
     * how many to answer; default: all, up to 100
     */
    top_k?: number | null;
    /**
     * a rerank model of this server, or an alias of one; absent: the default
     */
    model?: string | null;
};

export type RerankResult = {
    /**
     * best first
     */
    results: Array<RerankScored>;
    model: string;
    /**
     * texts cut at the model's window, and one more where the query was
     */
    truncated: number;
};

export type RerankScored = {
    /**
     * position in documents
     */
    index: number;
    /**
     * probability of relevance
     */
    score: number;
};

export type RerankUsage = {
    /**
     * word pieces of the documents, and of the query for each of them
     */
    total_tokens: number;
};

export type RerankV1Result = {
    /**
     * the request's id
     */
    id: string;
    /**
     * the model that scored
     */
    model: string;
    usage: RerankUsage;
    /**
     * best first
     */
    results: Array<RerankAliasScored>;
    meta: RerankMeta;
};

export type RerankV2Result = {
    /**
     * the request's id
     */
    id: string;
    /**
     * best first
     */
    results: Array<RerankAliasScored>;
    meta: RerankMeta;
};

export type RunEvent = {
    /**
     * its kind
     */
    type: string;
    /**
     * when it happened
     */
    timestamp: string;
    data: EventRunData;
};

export type Source = {
    id: string;
    /**
     * for people
     */
    name: string;
    /**
     * as in GET /source_kinds
     */
    kind: string;
    namespace: NamespaceName;
    /**
     * settings, as the kind's schema wants them
     */
    config: unknown;
    /**
     * names of the secrets that are set; their values are never answered
     */
    secrets_set: Array<string>;
    /**
     * when runs begin by themselves; null: they do not
     */
    schedule: SourceScheduleOutput | null;
    /**
     * what becomes of documents whose items are gone
     */
    deletions: 'propagate' | 'keep';
    enabled: boolean;
    state: 'idle' | 'syncing' | 'paused' | 'error' | 'deleting';
    /**
     * why the state is error; else null
     */
    state_reason: SourceReason | null;
    /**
     * items that are kept, failed ones included
     */
    items: number;
    /**
     * documents that were made of them
     */
    documents: number;
    /**
     * the newest run; null: there was none
     */
    last_run: SourceRun | null;
    /**
     * null: no run is planned
     */
    next_run_at: string | null;
    created_at: string;
    /**
     * of its settings
     */
    updated_at: string;
};

export type SourceApplyDeletions = {
    /**
     * most documents to delete; if more would go, none does
     */
    max: number;
};

export type SourceBeginRun = {
    /**
     * everything that the source has is to be brought; default: full
     */
    mode?: 'full';
};

export type SourceBegun = {
    id: string;
    source_id: string;
    trigger: 'schedule' | 'manual' | 'create' | 'config';
    /**
     * whether it asks for everything, or for what has changed
     */
    mode: 'full' | 'incremental';
    /**
     * partial: something of the source is not reflected; interrupted: it made no progress, or its process is gone and another is to go on
     */
    status: 'queued' | 'running' | 'completed' | 'partial' | 'failed' | 'cancelled' | 'interrupted';
    counts: PortSourceCounts;
    /**
     * why it failed, or is partial although no item failed; else null
     */
    error: SourceReason | null;
    created_at: string;
    started_at: string | null;
    /**
     * when it was last known to be alive
     */
    heartbeat_at: string | null;
    finished_at: string | null;
};

export type SourceChecked = {
    /**
     * whether a run could begin
     */
    ok: boolean;
    /**
     * what of the settings can't work
     */
    problems: Array<SourceProblem>;
    /**
     * why the source could not be listed; else null
     */
    error: SourceReason | null;
    /**
     * the first items, at most 20
     */
    items: Array<SourceListed>;
    /**
     * whether these are all
     */
    complete: boolean;
};

export type SourceCompleteRun = {
    /**
     * everything was brought: what was not is gone; default: false
     */
    snapshot?: boolean;
};

export type SourceEvent = {
    /**
     * its kind
     */
    type: string;
    /**
     * when it happened
     */
    timestamp: string;
    data: EventSourceData;
};

export type SourceItem = {
    /**
     * names it in its source
     */
    key: string;
    name: string;
    url: string | null;
    /**
     * under which it was read
     */
    version: string;
    status: 'active' | 'failed';
    /**
     * of a failed one
     */
    error: SourceReason | null;
    /**
     * that have failed in a row
     */
    attempts: number;
    /**
     * of a failed one; null: it is tried again when it has changed, or on demand
     */
    next_attempt_at: string | null;
    /**
     * its first document; null: it has none
     */
    document_id: string | null;
    documents: number;
    updated_at: string;
};

export type SourceItems = {
    items: Array<SourceItem>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type SourceKind = {
    name: string;
    /**
     * for people
     */
    title: string;
    summary: string;
    /**
     * JSON Schema of the settings
     */
    config: unknown;
    /**
     * JSON Schema of the secrets, which are strings
     */
    secrets: unknown;
    /**
     * whether a run can ask for what has changed alone
     */
    incremental: boolean;
    /**
     * whether a grant of a source of that name takes these secrets, to be given back with
     */
    revokes: boolean;
};

export type SourceKinds = {
    kinds: Array<SourceKind>;
};

export type SourceListed = {
    key: string;
    name: string;
    url: string | null;
    /**
     * in bytes; null: not known
     */
    size: number | null;
    modified_at: string | null;
};

/**
 * 1-128 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
 */
export type SourceName = string;

export type SourceProblem = {
    field: string;
    /**
     * for people; the field is its subject
     */
    message: string;
};

export type SourcePushItem = {
    /**
     * names it in its source for ever
     */
    key: string;
    /**
     * the source no longer has it; nothing else is given then; default: false
     */
    deleted?: boolean;
    /**
     * equal while it is unchanged; left out: it is compared by its content
     */
    version?: string;
    /**
     * for people; the documents' title unless metadata has one
     */
    name?: string;
    /**
     * where people find it; becomes metadata
     */
    url?: string;
    /**
     * becomes metadata
     */
    modified_at?: string | null;
    /**
     * what is above 256 KB becomes several documents
     */
    text?: string | null;
    /**
     * at most 20 keys beside those that every source gives
     */
    metadata?: Metadata;
};

export type SourcePushItems = {
    /**
     * run that these items are part of; left out: they are changes of their own
     */
    run_id?: string;
    /**
     * each key once
     */
    items: Array<SourcePushItem>;
};

export type SourcePushed = {
    /**
     * one for each item, in the order of the call
     */
    items: Array<SourcePushedItem>;
};

export type SourcePushedItem = {
    key: string;
    /**
     * deleted: it is not there any more, whether or not it was
     */
    status: 'created' | 'updated' | 'unchanged' | 'deleted' | 'failed';
    /**
     * of a failed one
     */
    error: SourceReason | null;
    /**
     * its first document; null: it has none
     */
    document_id: string | null;
    documents: number;
};

export type SourceReason = {
    /**
     * for programs
     */
    code: string;
    /**
     * for people
     */
    message: string;
};

export type SourceRun = {
    id: string;
    source_id: string;
    trigger: 'schedule' | 'manual' | 'create' | 'config';
    /**
     * whether it asks for everything, or for what has changed
     */
    mode: 'full' | 'incremental';
    /**
     * partial: something of the source is not reflected; interrupted: it made no progress, or its process is gone and another is to go on
     */
    status: 'queued' | 'running' | 'completed' | 'partial' | 'failed' | 'cancelled' | 'interrupted';
    counts: PortSourceCounts;
    /**
     * why it failed, or is partial although no item failed; else null
     */
    error: SourceReason | null;
    created_at: string;
    started_at: string | null;
    /**
     * when it was last known to be alive
     */
    heartbeat_at: string | null;
    finished_at: string | null;
};

export type SourceRunItem = {
    /**
     * the item's key, or the path of a part that could not be listed
     */
    key: string;
    status: 'created' | 'updated' | 'deleted' | 'withheld' | 'failed' | 'skipped';
    /**
     * of one that failed or was skipped
     */
    error: SourceReason | null;
    /**
     * its first document; null: it has none
     */
    document_id: string | null;
};

export type SourceRunItems = {
    items: Array<SourceRunItem>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type SourceRuns = {
    runs: Array<SourceRun>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type SourceSchedule = {
    /**
     * from one run to the next, 1m to 8760h, with a jitter of a tenth and at most 5 minutes
     */
    every?: string;
    /**
     * five fields in UTC: minute, hour, day of the month, month, day of the week
     */
    cron?: string;
};

export type SourceScheduleOutput = {
    /**
     * from one run to the next, 1m to 8760h, with a jitter of a tenth and at most 5 minutes
     */
    every?: string;
    /**
     * five fields in UTC: minute, hour, day of the month, month, day of the week
     */
    cron?: string;
};

export type Sources = {
    sources: Array<Source>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type StatusCheck = {
    /**
     * off: it is not configured
     */
    status: 'ok' | 'off' | 'error';
    /**
     * how long the check took
     */
    latency_ms: number;
    /**
     * what is wrong
     */
    message?: string;
    /**
     * of an error: when the server that answers first found it, in the checks it made without a break; it may be older
     */
    since?: string;
};

export type StatusDeep = {
    /**
     * degraded: an optional part is off or fails
     */
    status: 'ok' | 'degraded' | 'error';
    /**
     * of the check
     */
    time: string;
    /**
     * with a valid key only
     */
    checks?: {
        [key: string]: StatusCheck;
    };
    /**
     * of the server; with a valid key only
     */
    version?: string;
};

export type StatusHealth = {
    status: 'ok';
};

export type SyncSource = {
    /**
     * look at everything again, and bring back documents that were deleted by hand; default: false
     */
    full?: boolean;
};

export type UpdateSource = {
    /**
     * for people
     */
    name?: string | null;
    /**
     * settings, all of them
     */
    config?: unknown;
    /**
     * those to set; an empty text removes one
     */
    secrets?: {
        [key: string]: string;
    };
    /**
     * an empty object removes it
     */
    schedule?: SourceSchedule | null;
    /**
     * what becomes of documents whose items are gone
     */
    deletions?: 'propagate' | 'keep';
    /**
     * false pauses the source, true ends that
     */
    enabled?: boolean | null;
};

export type UsageAllKept = {
    kept: Array<UsageKept>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type UsageChangeQuotas = {
    /**
     * UTF-8 bytes of the texts of documents and memories; 0: unlimited
     */
    bytes?: number | null;
    /**
     * documents of all namespaces; 0: unlimited
     */
    documents?: number | null;
    /**
     * namespaces, empty ones too; 0: unlimited
     */
    namespaces?: number | null;
    /**
     * end users of all integrations; 0: unlimited
     */
    end_users?: number | null;
};

export type UsageKept = {
    organization_id: string;
    /**
     * null: it is what an integration keeps
     */
    namespace: string | null;
    /**
     * null: it is what a namespace keeps
     */
    integration_id: string | null;
    /**
     * UTF-8 bytes of the texts of documents or memories
     */
    bytes: number;
    /**
     * hour in which they came to be so many
     */
    since: string;
};

export type UsageQuota = {
    /**
     * null: unlimited
     */
    limit: number | null;
    used: number;
    /**
     * when it first refused a write; null: it did not, or less than 95 % of it were in use since
     */
    exceeded_at: string | null;
};

export type UsageQuotas = {
    organization_id: string;
    /**
     * UTF-8 bytes of the texts of documents and memories
     */
    bytes: UsageQuota;
    /**
     * documents of all namespaces
     */
    documents: UsageQuota;
    /**
     * namespaces, empty ones too
     */
    namespaces: UsageQuota;
    /**
     * end users of all integrations: one with two integrations counts twice
     */
    end_users: UsageQuota;
};

export type UsageRow = {
    /**
     * beginning of the hour or day; null: the row sums up all
     */
    from: string | null;
    organization_id: string;
    /**
     * null: in none
     */
    namespace: string | null;
    /**
     * null: for none
     */
    integration_id: string | null;
    /**
     * null: the server did it by itself
     */
    key_id: string | null;
    /**
     * calls that did what they were asked
     */
    requests: number;
    /**
     * documents and memories written
     */
    documents: number;
    /**
     * chunks of what was written, where its text changed
     */
    chunks: number;
    /**
     * tokens that an embedding model has read
     */
    tokens_embedded: number;
    /**
     * tokens that a sparse model has read
     */
    tokens_sparse: number;
    /**
     * texts scored against a query
     */
    pairs_reranked: number;
    recalls: number;
};

export type UsageRows = {
    usage: Array<UsageRow>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type UserEvent = {
    /**
     * its kind
     */
    type: string;
    /**
     * when it happened
     */
    timestamp: string;
    data: EventUserData;
};

export type Webhook = {
    id: string;
    /**
     * where events are sent to
     */
    url: string;
    /**
     * the kinds of events that are sent; none: all that the kind of key sees that set them
     */
    kinds: Array<string>;
    /**
     * for people
     */
    description: string;
    /**
     * v1: HMAC-SHA256 with a shared secret; v1a: ed25519, checked with a public key
     */
    signature: 'v1' | 'v1a';
    /**
     * false: nothing is sent, and nothing waits for it
     */
    enabled: boolean;
    /**
     * failing: its last attempt failed; disabled: enabled is false; secret_unavailable: the server cannot read its secrets, so that deliveries wait
     */
    state: 'active' | 'failing' | 'disabled' | 'secret_unavailable';
    /**
     * why the server has disabled it: gone, its endpoint answered 410, or failing, it took nothing for days; null: it has not
     */
    reason: string | null;
    /**
     * when the first delivery failed that none has succeeded after; null: none has
     */
    failing_since: string | null;
    /**
     * what deliveries are signed with, the newest first; two during a rotation
     */
    secrets: Array<WebhookSecret>;
    created_at: string;
    /**
     * when its settings last changed
     */
    updated_at: string;
};

export type WebhookAttempt = {
    at: string;
    /**
     * of the answer; null: there was none
     */
    status: number | null;
    /**
     * how long it took
     */
    ms: number;
    /**
     * what it failed for; null: it succeeded
     */
    error: string | null;
    /**
     * the first 512 bytes of the answer; null: it was empty
     */
    answer: string | null;
};

export type WebhookChange = {
    /**
     * where to send events: an https URL
     */
    url?: string | null;
    /**
     * the kinds of events to send; none: all that the key sees
     */
    kinds?: Array<'namespace.created' | 'namespace.deleted' | 'namespace.reindexed' | 'documents.written' | 'documents.deleted' | 'source.run.completed' | 'source.run.failed' | 'source.deletions_withheld' | 'source.credentials_failed' | 'source.state_changed' | 'memory.created' | 'memory.updated' | 'memory.tombstoned' | 'memory.restored' | 'memory.deleted' | 'user.erased' | 'quota.exceeded' | 'key.created' | 'key.revoked' | 'model.state_changed' | 'webhook.disabled'> | null;
    /**
     * for people
     */
    description?: string | null;
    /**
     * false drops what waits to be sent; true starts afresh
     */
    enabled?: boolean | null;
};

export type WebhookChangeOf = {
    /**
     * where to send events: an https URL
     */
    url?: string | null;
    /**
     * the kinds of events to send; none: all that the key sees
     */
    kinds?: Array<'namespace.created' | 'namespace.deleted' | 'namespace.reindexed' | 'documents.written' | 'documents.deleted' | 'source.run.completed' | 'source.run.failed' | 'source.deletions_withheld' | 'source.credentials_failed' | 'source.state_changed' | 'memory.created' | 'memory.updated' | 'memory.tombstoned' | 'memory.restored' | 'memory.deleted' | 'user.erased' | 'quota.exceeded' | 'key.created' | 'key.revoked' | 'model.state_changed' | 'webhook.disabled'> | null;
    /**
     * for people
     */
    description?: string | null;
    /**
     * false drops what waits to be sent; true starts afresh
     */
    enabled?: boolean | null;
};

export type WebhookCreate = {
    /**
     * where to send events: an https URL
     */
    url: string;
    /**
     * the kinds of events to send, as GET /event_kinds lists them; none: all that the key sees, and those that are to come
     */
    kinds?: Array<'namespace.created' | 'namespace.deleted' | 'namespace.reindexed' | 'documents.written' | 'documents.deleted' | 'source.run.completed' | 'source.run.failed' | 'source.deletions_withheld' | 'source.credentials_failed' | 'source.state_changed' | 'memory.created' | 'memory.updated' | 'memory.tombstoned' | 'memory.restored' | 'memory.deleted' | 'user.erased' | 'quota.exceeded' | 'key.created' | 'key.revoked' | 'model.state_changed' | 'webhook.disabled'>;
    /**
     * for people
     */
    description?: string | null;
    /**
     * v1: a shared secret, which every library of Standard Webhooks checks; v1a: a key pair, of which the receiver gets the public half; default: v1
     */
    signature?: 'v1' | 'v1a';
    /**
     * whether to send from now on; default: true
     */
    enabled?: boolean | null;
};

export type WebhookCreateOf = {
    /**
     * where to send events: an https URL
     */
    url: string;
    /**
     * the kinds of events to send, as GET /event_kinds lists them; none: all that the key sees, and those that are to come
     */
    kinds?: Array<'namespace.created' | 'namespace.deleted' | 'namespace.reindexed' | 'documents.written' | 'documents.deleted' | 'source.run.completed' | 'source.run.failed' | 'source.deletions_withheld' | 'source.credentials_failed' | 'source.state_changed' | 'memory.created' | 'memory.updated' | 'memory.tombstoned' | 'memory.restored' | 'memory.deleted' | 'user.erased' | 'quota.exceeded' | 'key.created' | 'key.revoked' | 'model.state_changed' | 'webhook.disabled'>;
    /**
     * for people
     */
    description?: string | null;
    /**
     * v1: a shared secret, which every library of Standard Webhooks checks; v1a: a key pair, of which the receiver gets the public half; default: v1
     */
    signature?: 'v1' | 'v1a';
    /**
     * whether to send from now on; default: true
     */
    enabled?: boolean | null;
};

export type WebhookDeleted = {
    /**
     * false: there was none
     */
    deleted: boolean;
};

export type WebhookDeliveries = {
    /**
     * the newest first
     */
    deliveries: Array<WebhookDelivery>;
    /**
     * cursor of the next page; null: this is the last
     */
    next_cursor: string | null;
};

export type WebhookDelivery = {
    id: string;
    /**
     * also the header webhook-id
     */
    event_id: string;
    /**
     * of the event
     */
    kind: string;
    /**
     * what the event happened to: of one entity one delivery goes after the other
     */
    entity: string;
    /**
     * failed: so did all attempts; dropped: the webhook was disabled
     */
    status: 'pending' | 'succeeded' | 'failed' | 'dropped';
    /**
     * how many attempts there were
     */
    tries: number;
    /**
     * the last ones, in order
     */
    attempts: Array<WebhookAttempt>;
    /**
     * null: it has ended, or waits for an earlier one of its entity
     */
    next_attempt_at: string | null;
    /**
     * id of the delivery that it repeats; null: it repeats none
     */
    redelivery_of: string | null;
    created_at: string;
    updated_at: string;
};

export type WebhookEvent = {
    /**
     * its kind
     */
    type: string;
    /**
     * when it happened
     */
    timestamp: string;
    data: EventWebhookData;
};

export type WebhookMade = {
    id: string;
    /**
     * where events are sent to
     */
    url: string;
    /**
     * the kinds of events that are sent; none: all that the kind of key sees that set them
     */
    kinds: Array<string>;
    /**
     * for people
     */
    description: string;
    /**
     * v1: HMAC-SHA256 with a shared secret; v1a: ed25519, checked with a public key
     */
    signature: 'v1' | 'v1a';
    /**
     * false: nothing is sent, and nothing waits for it
     */
    enabled: boolean;
    /**
     * failing: its last attempt failed; disabled: enabled is false; secret_unavailable: the server cannot read its secrets, so that deliveries wait
     */
    state: 'active' | 'failing' | 'disabled' | 'secret_unavailable';
    /**
     * why the server has disabled it: gone, its endpoint answered 410, or failing, it took nothing for days; null: it has not
     */
    reason: string | null;
    /**
     * when the first delivery failed that none has succeeded after; null: none has
     */
    failing_since: string | null;
    /**
     * what deliveries are signed with, the newest first; two during a rotation
     */
    secrets: Array<WebhookSecret>;
    created_at: string;
    /**
     * when its settings last changed
     */
    updated_at: string;
    /**
     * whsec_ and base64, for the receiver's library: shown this once; null: signature v1a needs none
     */
    secret: string | null;
};

export type WebhookRecover = {
    /**
     * of the first event
     */
    since: string;
    /**
     * of the event after the last; none: now
     */
    until?: string | null;
};

export type WebhookRecoverOf = {
    /**
     * of the first event
     */
    since: string;
    /**
     * of the event after the last; none: now
     */
    until?: string | null;
};

export type WebhookRecovered = {
    /**
     * how many were made
     */
    deliveries: number;
    /**
     * true: there are more; repeat the call
     */
    more: boolean;
};

export type WebhookRotate = {
    /**
     * how long the secret that is replaced signs along, such as 90m: 0s to 168h; default: 24h
     */
    overlap?: string;
    /**
     * also while two secrets sign: the older one ends at once; default: false
     */
    force?: boolean;
};

export type WebhookRotateOf = {
    /**
     * how long the secret that is replaced signs along, such as 90m: 0s to 168h; default: 24h
     */
    overlap?: string;
    /**
     * also while two secrets sign: the older one ends at once; default: false
     */
    force?: boolean;
};

export type WebhookSecret = {
    id: string;
    /**
     * of signature v1a, whpk_ and base64; null: of v1, which has none
     */
    public_key: string | null;
    created_at: string;
    /**
     * it signs until then; null: until it is replaced
     */
    expires_at: string | null;
};

export type WebhookTested = {
    /**
     * whether the endpoint answered 2xx
     */
    delivered: boolean;
    /**
     * the header webhook-id of the test
     */
    event_id: string;
    at: string;
    /**
     * of the answer; null: there was none
     */
    status: number | null;
    /**
     * how long it took
     */
    ms: number;
    /**
     * what it failed for; null: it succeeded
     */
    error: string | null;
    /**
     * the first 512 bytes of the answer; null: it was empty
     */
    answer: string | null;
};

export type Webhooks = {
    /**
     * the oldest first
     */
    webhooks: Array<Webhook>;
};

export type WriteDocuments = {
    /**
     * documents to write, each id once
     */
    documents: Array<DocumentInput>;
    /**
     * 409 when the namespace has another index than this says
     */
    expect_sparse?: boolean | null;
};

export type WrittenDocument = {
    id: DocumentId;
    /**
     * the id was new
     */
    created: boolean;
    /**
     * the same was stored already
     */
    unchanged: boolean;
    chunks: number;
    updated_at: string;
};

/**
 * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
 */
export type RequestId = string;

/**
 * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
 */
export type TimeoutMs = number;

export type NamespacesListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
        /**
         * only names that begin with it
         */
        prefix?: string;
    };
    url: '/namespaces';
};

export type NamespacesListResponses = {
    /**
     * OK
     */
    200: NamespacePage;
};

export type NamespacesListResponse = NamespacesListResponses[keyof NamespacesListResponses];

export type NamespacesCreateData = {
    /**
     * At most 64 KiB.
     */
    body: CreateNamespace;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/namespaces';
};

export type NamespacesCreateResponses = {
    /**
     * OK
     */
    200: NamespaceCreated;
};

export type NamespacesCreateResponse = NamespacesCreateResponses[keyof NamespacesCreateResponses];

export type NamespacesDeleteData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
    };
    query?: never;
    url: '/namespaces/{namespace}';
};

export type NamespacesDeleteResponses = {
    /**
     * OK
     */
    200: NamespaceDeleted;
};

export type NamespacesDeleteResponse = NamespacesDeleteResponses[keyof NamespacesDeleteResponses];

export type NamespacesGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
    };
    query?: never;
    url: '/namespaces/{namespace}';
};

export type NamespacesGetResponses = {
    /**
     * OK
     */
    200: Namespace;
};

export type NamespacesGetResponse = NamespacesGetResponses[keyof NamespacesGetResponses];

export type DocumentsListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
    };
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
        /**
         * only ids that begin with it
         */
        prefix?: string;
        /**
         * only documents of this source
         */
        source_id?: string;
        /**
         * id rises; updated_at has the newest first
         */
        order?: 'id' | 'updated_at';
    };
    url: '/namespaces/{namespace}/documents';
};

export type DocumentsListResponses = {
    /**
     * OK
     */
    200: DocumentPage;
};

export type DocumentsListResponse = DocumentsListResponses[keyof DocumentsListResponses];

export type DocumentsWriteData = {
    /**
     * At most 32 MiB.
     */
    body: WriteDocuments;
    headers?: {
        /**
         * respond-async answers 202 with an operation; searchable=soon does not wait for a remote index
         */
        Prefer?: string;
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * name of the namespace; it is made when there is none
         */
        namespace: NamespaceName;
    };
    query?: never;
    url: '/namespaces/{namespace}/documents';
};

export type DocumentsWriteResponses = {
    /**
     * The documents are durable, and searchable unless the answer says otherwise.
     */
    200: DocumentWritten;
    /**
     * The write is accepted.
     */
    202: DocumentOperation;
};

export type DocumentsWriteResponse = DocumentsWriteResponses[keyof DocumentsWriteResponses];

export type DocumentsGetData = {
    body?: never;
    headers?: {
        /**
         * ETags that the caller holds; 304 when the document has one of them
         */
        'If-None-Match'?: string;
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
        /**
         * id of the document
         */
        id: DocumentId;
    };
    query?: {
        /**
         * chunks adds chunk_list to the answer
         */
        include?: Array<'chunks'>;
    };
    url: '/namespaces/{namespace}/documents/{id}';
};

export type DocumentsGetResponses = {
    /**
     * The document.
     */
    200: Document;
};

export type DocumentsGetResponse = DocumentsGetResponses[keyof DocumentsGetResponses];

export type DocumentsDeleteData = {
    /**
     * At most 1 MiB.
     */
    body: DeleteDocuments;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
    };
    query?: never;
    url: '/namespaces/{namespace}/documents/delete';
};

export type DocumentsDeleteResponses = {
    /**
     * OK
     */
    200: DocumentDeletedSome;
};

export type DocumentsDeleteResponse = DocumentsDeleteResponses[keyof DocumentsDeleteResponses];

export type OperationsGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
        /**
         * id of the operation
         */
        operation: string;
    };
    query?: never;
    url: '/namespaces/{namespace}/operations/{operation}';
};

export type OperationsGetResponses = {
    /**
     * OK
     */
    200: DocumentOperation;
};

export type OperationsGetResponse = OperationsGetResponses[keyof OperationsGetResponses];

export type FilesUploadData = {
    /**
     * At most 128 MiB.
     */
    body: FileForm;
    headers?: {
        /**
         * respond-async answers 202 with an operation; searchable=soon does not wait for a remote index
         */
        Prefer?: string;
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * name of the namespace; it is made when there is none
         */
        namespace: NamespaceName;
    };
    query?: {
        /**
         * write nothing, and show the documents and chunks that would be written
         */
        dry_run?: boolean;
    };
    url: '/namespaces/{namespace}/files';
};

export type FilesUploadResponses = {
    /**
     * What was read is durable, and searchable unless the answer says otherwise.
     */
    200: FileUploaded;
    /**
     * The files are read, and their write is accepted.
     */
    202: FileAccepted;
};

export type FilesUploadResponse = FilesUploadResponses[keyof FilesUploadResponses];

export type FormatsListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/formats';
};

export type FormatsListResponses = {
    /**
     * OK
     */
    200: FileFormats;
};

export type FormatsListResponse = FormatsListResponses[keyof FormatsListResponses];

export type NamespacesQueryData = {
    /**
     * At most 1 MiB.
     */
    body: QueryRequest;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
    };
    query?: never;
    url: '/namespaces/{namespace}/query';
};

export type NamespacesQueryResponses = {
    /**
     * OK
     */
    200: QueryResult;
};

export type NamespacesQueryResponse = NamespacesQueryResponses[keyof NamespacesQueryResponses];

export type QueriesListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
    };
    query?: never;
    url: '/namespaces/{namespace}/queries';
};

export type QueriesListResponses = {
    /**
     * OK
     */
    200: CheckSavedList;
};

export type QueriesListResponse = QueriesListResponses[keyof QueriesListResponses];

export type QueriesDeleteData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
        /**
         * name of the query, unique in the namespace
         */
        query: string;
    };
    query?: never;
    url: '/namespaces/{namespace}/queries/{query}';
};

export type QueriesDeleteResponses = {
    /**
     * OK
     */
    200: CheckRemoved;
};

export type QueriesDeleteResponse = QueriesDeleteResponses[keyof QueriesDeleteResponses];

export type QueriesSaveData = {
    /**
     * At most 64 KiB.
     */
    body: CheckSave;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
        /**
         * name of the query, unique in the namespace
         */
        query: string;
    };
    query?: never;
    url: '/namespaces/{namespace}/queries/{query}';
};

export type QueriesSaveResponses = {
    /**
     * OK
     */
    200: CheckSaved;
};

export type QueriesSaveResponse = QueriesSaveResponses[keyof QueriesSaveResponses];

export type QueriesRunData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
    };
    query?: never;
    url: '/namespaces/{namespace}/check';
};

export type QueriesRunResponses = {
    /**
     * OK
     */
    200: CheckReport;
};

export type QueriesRunResponse = QueriesRunResponses[keyof QueriesRunResponses];

export type MemoriesSearchData = {
    /**
     * At most 256 KiB.
     */
    body: MemoryQuery;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/api/v1/search';
};

export type MemoriesSearchResponses = {
    /**
     * OK
     */
    200: MemoryResults;
};

export type MemoriesSearchResponse = MemoriesSearchResponses[keyof MemoriesSearchResponses];

export type MemoriesListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query: {
        /**
         * the end user
         */
        endUserId: EndUserId;
        /**
         * only this container's
         */
        containerTag?: ContainerTag;
        /**
         * how many at most
         */
        limit?: number;
        /**
         * nextCursor of the page before; none for the first page
         */
        cursor?: string;
    };
    url: '/api/v1/memories';
};

export type MemoriesListResponses = {
    /**
     * OK
     */
    200: MemoryPage;
};

export type MemoriesListResponse = MemoriesListResponses[keyof MemoriesListResponses];

export type MemoriesSaveData = {
    /**
     * At most 688 KiB.
     */
    body: MemorySave;
    headers?: {
        /**
         * makes the call safe to repeat: for 24 hours the same call answers the same
         */
        'Idempotency-Key'?: string;
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/api/v1/memories';
};

export type MemoriesSaveResponses = {
    /**
     * OK
     */
    200: MemorySavedOne;
};

export type MemoriesSaveResponse = MemoriesSaveResponses[keyof MemoriesSaveResponses];

export type MemoriesBatchData = {
    /**
     * At most 32 MiB.
     */
    body: MemoryBatch;
    headers?: {
        /**
         * makes the call safe to repeat: for 24 hours the same call answers the same
         */
        'Idempotency-Key'?: string;
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/api/v1/memories/batch';
};

export type MemoriesBatchResponses = {
    /**
     * OK
     */
    200: MemorySavedBatch;
};

export type MemoriesBatchResponse = MemoriesBatchResponses[keyof MemoriesBatchResponses];

export type MemoriesRememberData = {
    /**
     * At most 32 MiB.
     */
    body: MemoryRemember;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/api/v1/conversations';
};

export type MemoriesRememberResponses = {
    /**
     * OK
     */
    200: MemoryRemembered;
};

export type MemoriesRememberResponse = MemoriesRememberResponses[keyof MemoriesRememberResponses];

export type MemoriesContextData = {
    /**
     * At most 256 KiB.
     */
    body: MemoryContextQuery;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/api/v1/context';
};

export type MemoriesContextResponses = {
    /**
     * OK
     */
    200: MemoryContextBlock;
};

export type MemoriesContextResponse = MemoriesContextResponses[keyof MemoriesContextResponses];

export type MemoriesDeleteData = {
    /**
     * At most 64 KiB.
     */
    body: MemoryDelete;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/api/v1/memories/delete';
};

export type MemoriesDeleteResponses = {
    /**
     * OK
     */
    200: MemoryDeleted;
};

export type MemoriesDeleteResponse = MemoriesDeleteResponses[keyof MemoriesDeleteResponses];

export type MemoriesTombstoneData = {
    body?: never;
    headers?: {
        /**
         * id of the grant by which the source writes; an integration may require one
         */
        'X-Mneme-Grant'?: string;
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the record in the source system
         */
        externalId: ExternalId;
    };
    query: {
        /**
         * the end user
         */
        endUserId: EndUserId;
        /**
         * name of the source system
         */
        source: SourceName;
        /**
         * chosen by the source system; only higher ones are applied
         */
        version: number;
        /**
         * the source's time of the end; default: the time of the call
         */
        occurredAt?: string;
    };
    url: '/api/v1/memories/{externalId}';
};

export type MemoriesTombstoneResponses = {
    /**
     * OK
     */
    200: MemoryApplied;
};

export type MemoriesTombstoneResponse = MemoriesTombstoneResponses[keyof MemoriesTombstoneResponses];

export type MemoriesGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the record in the source system
         */
        externalId: ExternalId;
    };
    query: {
        /**
         * the end user
         */
        endUserId: EndUserId;
        /**
         * name of the source system
         */
        source: SourceName;
    };
    url: '/api/v1/memories/{externalId}';
};

export type MemoriesGetResponses = {
    /**
     * OK
     */
    200: MemoryApplied;
};

export type MemoriesGetResponse = MemoriesGetResponses[keyof MemoriesGetResponses];

export type MemoriesUpsertData = {
    /**
     * At most 688 KiB.
     */
    body: MemoryUpsert;
    headers?: {
        /**
         * id of the grant by which the source writes; an integration may require one
         */
        'X-Mneme-Grant'?: string;
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the record in the source system
         */
        externalId: ExternalId;
    };
    query?: never;
    url: '/api/v1/memories/{externalId}';
};

export type MemoriesUpsertResponses = {
    /**
     * OK
     */
    200: MemoryApplied;
};

export type MemoriesUpsertResponse = MemoriesUpsertResponses[keyof MemoriesUpsertResponses];

export type GrantsListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query: {
        /**
         * the end user
         */
        endUserId: EndUserId;
    };
    url: '/api/v1/grants';
};

export type GrantsListResponses = {
    /**
     * OK
     */
    200: MemoryGrants;
};

export type GrantsListResponse = GrantsListResponses[keyof GrantsListResponses];

export type GrantsCreateData = {
    /**
     * At most 448 KiB.
     */
    body: MemoryCreateGrant;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/api/v1/grants';
};

export type GrantsCreateResponses = {
    /**
     * OK
     */
    200: MemoryGranted;
};

export type GrantsCreateResponse = GrantsCreateResponses[keyof GrantsCreateResponses];

export type GrantsRevokeData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the grant
         */
        id: string;
    };
    query?: never;
    url: '/api/v1/grants/{id}';
};

export type GrantsRevokeResponses = {
    /**
     * OK
     */
    200: MemoryGranted;
};

export type GrantsRevokeResponse = GrantsRevokeResponses[keyof GrantsRevokeResponses];

export type UsersEraseData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * the end user
         */
        endUserId: EndUserId;
    };
    query?: never;
    url: '/api/v1/users/{endUserId}';
};

export type UsersEraseResponses = {
    /**
     * OK
     */
    200: MemoryErasedUser;
};

export type UsersEraseResponse = UsersEraseResponses[keyof UsersEraseResponses];

export type MemoriesStatusData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/api/v1/status';
};

export type MemoriesStatusResponses = {
    /**
     * The memory API works.
     */
    200: MemoryStatus;
};

export type MemoriesStatusResponse = MemoriesStatusResponses[keyof MemoriesStatusResponses];

export type MemoriesRecallData = {
    /**
     * At most 256 KiB.
     */
    body: RecallRequest;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/api/v1/recall';
};

export type MemoriesRecallResponses = {
    /**
     * OK
     */
    200: RecallAnswer;
};

export type MemoriesRecallResponse = MemoriesRecallResponses[keyof MemoriesRecallResponses];

export type AdminOrganizationsListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
    };
    url: '/admin/v1/organizations';
};

export type AdminOrganizationsListResponses = {
    /**
     * OK
     */
    200: AdminOrganizations;
};

export type AdminOrganizationsListResponse = AdminOrganizationsListResponses[keyof AdminOrganizationsListResponses];

export type AdminOrganizationsCreateData = {
    /**
     * At most 64 KiB.
     */
    body: AdminCreateOrganization;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/organizations';
};

export type AdminOrganizationsCreateResponses = {
    /**
     * OK
     */
    200: AdminOrganization;
};

export type AdminOrganizationsCreateResponse = AdminOrganizationsCreateResponses[keyof AdminOrganizationsCreateResponses];

export type AdminOrganizationsDeleteData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query: {
        /**
         * the organization's name again, so that none is deleted by mistake
         */
        name: string;
    };
    url: '/admin/v1/organizations/{org}';
};

export type AdminOrganizationsDeleteResponses = {
    /**
     * It is deleted, or was not there.
     */
    200: AdminOrganizationDeletion;
    /**
     * It is under way.
     */
    202: AdminOrganizationDeletion;
};

export type AdminOrganizationsDeleteResponse = AdminOrganizationsDeleteResponses[keyof AdminOrganizationsDeleteResponses];

export type AdminOrganizationsGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}';
};

export type AdminOrganizationsGetResponses = {
    /**
     * OK
     */
    200: AdminOrganization;
};

export type AdminOrganizationsGetResponse = AdminOrganizationsGetResponses[keyof AdminOrganizationsGetResponses];

export type AdminOrganizationsChangeData = {
    /**
     * At most 64 KiB.
     */
    body: AdminChangeOrganization;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}';
};

export type AdminOrganizationsChangeResponses = {
    /**
     * OK
     */
    200: AdminOrganization;
};

export type AdminOrganizationsChangeResponse = AdminOrganizationsChangeResponses[keyof AdminOrganizationsChangeResponses];

export type AdminKeysListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
    };
    url: '/admin/v1/organizations/{org}/keys';
};

export type AdminKeysListResponses = {
    /**
     * OK
     */
    200: AdminKeys;
};

export type AdminKeysListResponse = AdminKeysListResponses[keyof AdminKeysListResponses];

export type AdminKeysCreateData = {
    /**
     * At most 64 KiB.
     */
    body: AdminCreateKey;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/keys';
};

export type AdminKeysCreateResponses = {
    /**
     * The key with its secret.
     */
    200: AdminIssuedKey;
};

export type AdminKeysCreateResponse = AdminKeysCreateResponses[keyof AdminKeysCreateResponses];

export type AdminKeysRevokeData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the key
         */
        id: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/keys/{id}';
};

export type AdminKeysRevokeResponses = {
    /**
     * OK
     */
    200: AdminRevoked;
};

export type AdminKeysRevokeResponse = AdminKeysRevokeResponses[keyof AdminKeysRevokeResponses];

export type AdminKeysGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the key
         */
        id: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/keys/{id}';
};

export type AdminKeysGetResponses = {
    /**
     * OK
     */
    200: AdminKey;
};

export type AdminKeysGetResponse = AdminKeysGetResponses[keyof AdminKeysGetResponses];

export type AdminKeysChangeData = {
    /**
     * At most 64 KiB.
     */
    body: AdminChangeKey;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the key
         */
        id: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/keys/{id}';
};

export type AdminKeysChangeResponses = {
    /**
     * OK
     */
    200: AdminKey;
};

export type AdminKeysChangeResponse = AdminKeysChangeResponses[keyof AdminKeysChangeResponses];

export type AdminKeysRotateData = {
    /**
     * At most 64 KiB.
     */
    body?: AdminRotateKey;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the key
         */
        id: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/keys/{id}/rotate';
};

export type AdminKeysRotateResponses = {
    /**
     * The key with its secret.
     */
    200: AdminIssuedKey;
};

export type AdminKeysRotateResponse = AdminKeysRotateResponses[keyof AdminKeysRotateResponses];

export type AdminIntegrationsListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
    };
    url: '/admin/v1/organizations/{org}/integrations';
};

export type AdminIntegrationsListResponses = {
    /**
     * OK
     */
    200: AdminIntegrations;
};

export type AdminIntegrationsListResponse = AdminIntegrationsListResponses[keyof AdminIntegrationsListResponses];

export type AdminIntegrationsCreateData = {
    /**
     * At most 64 KiB.
     */
    body: AdminCreateIntegration;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/integrations';
};

export type AdminIntegrationsCreateResponses = {
    /**
     * OK
     */
    200: AdminIntegration;
};

export type AdminIntegrationsCreateResponse = AdminIntegrationsCreateResponses[keyof AdminIntegrationsCreateResponses];

export type AdminIntegrationsGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id or name of the integration
         */
        integration: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/integrations/{integration}';
};

export type AdminIntegrationsGetResponses = {
    /**
     * OK
     */
    200: AdminIntegration;
};

export type AdminIntegrationsGetResponse = AdminIntegrationsGetResponses[keyof AdminIntegrationsGetResponses];

export type AdminIntegrationsChangeData = {
    /**
     * At most 64 KiB.
     */
    body: AdminChangeIntegration;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id or name of the integration
         */
        integration: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/integrations/{integration}';
};

export type AdminIntegrationsChangeResponses = {
    /**
     * OK
     */
    200: AdminIntegration;
};

export type AdminIntegrationsChangeResponse = AdminIntegrationsChangeResponses[keyof AdminIntegrationsChangeResponses];

export type AdminIntegrationsKeysListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id or name of the integration
         */
        integration: string;
    };
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
    };
    url: '/admin/v1/organizations/{org}/integrations/{integration}/keys';
};

export type AdminIntegrationsKeysListResponses = {
    /**
     * OK
     */
    200: AdminKeys;
};

export type AdminIntegrationsKeysListResponse = AdminIntegrationsKeysListResponses[keyof AdminIntegrationsKeysListResponses];

export type AdminIntegrationsKeysCreateData = {
    /**
     * At most 64 KiB.
     */
    body: AdminCreateIntegrationKey;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id or name of the integration
         */
        integration: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/integrations/{integration}/keys';
};

export type AdminIntegrationsKeysCreateResponses = {
    /**
     * The key with its secret.
     */
    200: AdminIssuedKey;
};

export type AdminIntegrationsKeysCreateResponse = AdminIntegrationsKeysCreateResponses[keyof AdminIntegrationsKeysCreateResponses];

export type AdminNamespacesListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
        /**
         * only names that begin with it
         */
        prefix?: string;
    };
    url: '/admin/v1/organizations/{org}/namespaces';
};

export type AdminNamespacesListResponses = {
    /**
     * OK
     */
    200: AdminNamespaces;
};

export type AdminNamespacesListResponse = AdminNamespacesListResponses[keyof AdminNamespacesListResponses];

export type AdminNamespacesDiscardData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/namespaces/{namespace}/reindex';
};

export type AdminNamespacesDiscardResponses = {
    /**
     * OK
     */
    200: AdminDiscarded;
};

export type AdminNamespacesDiscardResponse = AdminNamespacesDiscardResponses[keyof AdminNamespacesDiscardResponses];

export type AdminNamespacesReindexingData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/namespaces/{namespace}/reindex';
};

export type AdminNamespacesReindexingResponses = {
    /**
     * It has ended, or nothing was to be done.
     */
    200: AdminReindexing;
    /**
     * It is under way.
     */
    202: AdminReindexing;
};

export type AdminNamespacesReindexingResponse = AdminNamespacesReindexingResponses[keyof AdminNamespacesReindexingResponses];

export type AdminNamespacesReindexData = {
    /**
     * At most 64 KiB.
     */
    body?: AdminReindex;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/namespaces/{namespace}/reindex';
};

export type AdminNamespacesReindexResponses = {
    /**
     * It has ended, or nothing was to be done.
     */
    200: AdminReindexing;
    /**
     * It is under way.
     */
    202: AdminReindexing;
};

export type AdminNamespacesReindexResponse = AdminNamespacesReindexResponses[keyof AdminNamespacesReindexResponses];

export type AdminNamespacesExportData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
    };
    query?: {
        /**
         * false: without chunks and vectors, a fraction of the size; an import computes them again
         */
        vectors?: boolean;
    };
    url: '/admin/v1/organizations/{org}/namespaces/{namespace}/export';
};

export type AdminNamespacesExportResponses = {
    /**
     * One JSON object a line, each of one of the forms of contentSchema.
     */
    200: string;
};

export type AdminNamespacesExportResponse = AdminNamespacesExportResponses[keyof AdminNamespacesExportResponses];

export type AdminNamespacesImportData = {
    /**
     * At most 64 GiB, decompressed. It is read as it comes.
     */
    body: Blob | File;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * name of the namespace
         */
        namespace: NamespaceName;
    };
    query?: {
        /**
         * what to do with a document that is there already with another text or other metadata: import nothing, keep it, or replace it
         */
        on_conflict?: 'fail' | 'skip' | 'replace';
        /**
         * embedding model of its own that a namespace gets which the import creates, by the id that GET /models?kind=embedding lists; empty: as the data set has it
         */
        embedding_model?: string;
    };
    url: '/admin/v1/organizations/{org}/namespaces/{namespace}/import';
};

export type AdminNamespacesImportResponses = {
    /**
     * OK
     */
    200: AdminImportedNamespace;
};

export type AdminNamespacesImportResponse = AdminNamespacesImportResponses[keyof AdminNamespacesImportResponses];

export type AdminEndUsersListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
        /**
         * only ids that begin with it
         */
        query?: string;
        /**
         * id or name; only its end users
         */
        integration?: string;
    };
    url: '/admin/v1/organizations/{org}/end_users';
};

export type AdminEndUsersListResponses = {
    /**
     * OK
     */
    200: AdminEndUsers;
};

export type AdminEndUsersListResponse = AdminEndUsersListResponses[keyof AdminEndUsersListResponses];

export type AdminEndUsersExportData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * the end user; write . and .. as %2E and %2E%2E
         */
        id: string;
    };
    query: {
        /**
         * id or name; required of a key of all organizations, else the key's own
         */
        organization?: string;
        /**
         * id or name of the integration
         */
        integration: string;
    };
    url: '/admin/v1/end_users/{id}/export';
};

export type AdminEndUsersExportResponses = {
    /**
     * One JSON object a line, each of one of the forms of contentSchema.
     */
    200: string;
};

export type AdminEndUsersExportResponse = AdminEndUsersExportResponses[keyof AdminEndUsersExportResponses];

export type AdminEndUsersEraseData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * the end user; write . and .. as %2E and %2E%2E
         */
        id: string;
    };
    query: {
        /**
         * id or name; required of a key of all organizations, else the key's own
         */
        organization?: string;
        /**
         * id or name of the integration
         */
        integration: string;
    };
    url: '/admin/v1/end_users/{id}/erase';
};

export type AdminEndUsersEraseResponses = {
    /**
     * OK
     */
    200: AdminCertificate;
};

export type AdminEndUsersEraseResponse = AdminEndUsersEraseResponses[keyof AdminEndUsersEraseResponses];

export type AdminEndUsersReindexingData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * the end user; write . and .. as %2E and %2E%2E
         */
        id: string;
    };
    query: {
        /**
         * id or name; required of a key of all organizations, else the key's own
         */
        organization?: string;
        /**
         * id or name of the integration
         */
        integration: string;
    };
    url: '/admin/v1/end_users/{id}/reindex';
};

export type AdminEndUsersReindexingResponses = {
    /**
     * It has ended, or nothing was to be done.
     */
    200: AdminReindexing;
    /**
     * It is under way.
     */
    202: AdminReindexing;
};

export type AdminEndUsersReindexingResponse = AdminEndUsersReindexingResponses[keyof AdminEndUsersReindexingResponses];

export type AdminEndUsersReindexData = {
    /**
     * At most 64 KiB.
     */
    body?: AdminReindexUser;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * the end user; write . and .. as %2E and %2E%2E
         */
        id: string;
    };
    query: {
        /**
         * id or name; required of a key of all organizations, else the key's own
         */
        organization?: string;
        /**
         * id or name of the integration
         */
        integration: string;
    };
    url: '/admin/v1/end_users/{id}/reindex';
};

export type AdminEndUsersReindexResponses = {
    /**
     * It has ended, or nothing was to be done.
     */
    200: AdminReindexing;
    /**
     * It is under way.
     */
    202: AdminReindexing;
};

export type AdminEndUsersReindexResponse = AdminEndUsersReindexResponses[keyof AdminEndUsersReindexResponses];

export type AdminJobsListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
        /**
         * id or name; none: all that the key administers
         */
        organization?: string;
        /**
         * only jobs of this kind, such as documents.write
         */
        kind?: string;
        /**
         * only jobs of this status
         */
        status?: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
    };
    url: '/admin/v1/jobs';
};

export type AdminJobsListResponses = {
    /**
     * OK
     */
    200: AdminJobs;
};

export type AdminJobsListResponse = AdminJobsListResponses[keyof AdminJobsListResponses];

export type AdminJobsGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the job
         */
        job: string;
    };
    query?: never;
    url: '/admin/v1/jobs/{job}';
};

export type AdminJobsGetResponses = {
    /**
     * OK
     */
    200: AdminJob;
};

export type AdminJobsGetResponse = AdminJobsGetResponses[keyof AdminJobsGetResponses];

export type AdminJobsCancelData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the job
         */
        job: string;
    };
    query?: never;
    url: '/admin/v1/jobs/{job}/cancel';
};

export type AdminJobsCancelResponses = {
    /**
     * OK
     */
    200: AdminJob;
};

export type AdminJobsCancelResponse = AdminJobsCancelResponses[keyof AdminJobsCancelResponses];

export type AdminSettingsGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/settings';
};

export type AdminSettingsGetResponses = {
    /**
     * OK
     */
    200: AdminConfiguration;
};

export type AdminSettingsGetResponse = AdminSettingsGetResponses[keyof AdminSettingsGetResponses];

export type AdminMembersListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
    };
    url: '/admin/v1/organizations/{org}/members';
};

export type AdminMembersListResponses = {
    /**
     * OK
     */
    200: Members;
};

export type AdminMembersListResponse = AdminMembersListResponses[keyof AdminMembersListResponses];

export type AdminMembersInviteData = {
    /**
     * At most 64 KiB.
     */
    body: MemberInvite;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/members';
};

export type AdminMembersInviteResponses = {
    /**
     * The member with the code of the invitation.
     */
    200: MemberInvited;
};

export type AdminMembersInviteResponse = AdminMembersInviteResponses[keyof AdminMembersInviteResponses];

export type AdminMembersRemoveData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the member
         */
        member: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/members/{member}';
};

export type AdminMembersRemoveResponses = {
    /**
     * OK
     */
    200: MemberRemoved;
};

export type AdminMembersRemoveResponse = AdminMembersRemoveResponses[keyof AdminMembersRemoveResponses];

export type AdminMembersGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the member
         */
        member: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/members/{member}';
};

export type AdminMembersGetResponses = {
    /**
     * OK
     */
    200: Member;
};

export type AdminMembersGetResponse = AdminMembersGetResponses[keyof AdminMembersGetResponses];

export type AdminMembersChangeData = {
    /**
     * At most 64 KiB.
     */
    body: MemberChange;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the member
         */
        member: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/members/{member}';
};

export type AdminMembersChangeResponses = {
    /**
     * OK
     */
    200: Member;
};

export type AdminMembersChangeResponse = AdminMembersChangeResponses[keyof AdminMembersChangeResponses];

export type AdminMembersInviteAgainData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the member
         */
        member: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/members/{member}/invitation';
};

export type AdminMembersInviteAgainResponses = {
    /**
     * The member with the code of the invitation.
     */
    200: MemberInvited;
};

export type AdminMembersInviteAgainResponse = AdminMembersInviteAgainResponses[keyof AdminMembersInviteAgainResponses];

export type AdminAuditListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
        /**
         * id or name; none: all that the key administers
         */
        organization?: string;
        /**
         * only what such a caller did
         */
        actor?: 'key' | 'member' | 'anonymous' | 'cli' | 'system';
        /**
         * only what was done with this key, or by this member
         */
        key_id?: string;
        /**
         * only this, such as admin.keys.revoke
         */
        action?: string;
        /**
         * only what was done to this
         */
        target?: string;
        /**
         * only what was done to this end user as a whole, who stands in the log as a keyed hash; of organization, or of the key's own
         */
        end_user_id?: string;
        /**
         * only what this call did
         */
        request_id?: string;
        /**
         * only what was done at this time or later
         */
        since?: string;
        /**
         * only what was done before this time
         */
        until?: string;
        /**
         * only calls that were refused
         */
        refused?: boolean;
    };
    url: '/admin/v1/audit';
};

export type AdminAuditListResponses = {
    /**
     * OK
     */
    200: AuditRecords;
};

export type AdminAuditListResponse = AdminAuditListResponses[keyof AdminAuditListResponses];

export type AdminAuditExportData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: {
        /**
         * id or name; none: all that the key administers
         */
        organization?: string;
        /**
         * only what such a caller did
         */
        actor?: 'key' | 'member' | 'anonymous' | 'cli' | 'system';
        /**
         * only what was done with this key, or by this member
         */
        key_id?: string;
        /**
         * only this, such as admin.keys.revoke
         */
        action?: string;
        /**
         * only what was done to this
         */
        target?: string;
        /**
         * only what was done to this end user as a whole, who stands in the log as a keyed hash; of organization, or of the key's own
         */
        end_user_id?: string;
        /**
         * only what this call did
         */
        request_id?: string;
        /**
         * only what was done at this time or later
         */
        since?: string;
        /**
         * only what was done before this time
         */
        until?: string;
        /**
         * only calls that were refused
         */
        refused?: boolean;
    };
    url: '/admin/v1/audit.ndjson';
};

export type AdminAuditExportResponses = {
    /**
     * One JSON object a line, as in contentSchema.
     */
    200: string;
};

export type AdminAuditExportResponse = AdminAuditExportResponses[keyof AdminAuditExportResponses];

export type AdminAuditExportCsvData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: {
        /**
         * id or name; none: all that the key administers
         */
        organization?: string;
        /**
         * only what such a caller did
         */
        actor?: 'key' | 'member' | 'anonymous' | 'cli' | 'system';
        /**
         * only what was done with this key, or by this member
         */
        key_id?: string;
        /**
         * only this, such as admin.keys.revoke
         */
        action?: string;
        /**
         * only what was done to this
         */
        target?: string;
        /**
         * only what was done to this end user as a whole, who stands in the log as a keyed hash; of organization, or of the key's own
         */
        end_user_id?: string;
        /**
         * only what this call did
         */
        request_id?: string;
        /**
         * only what was done at this time or later
         */
        since?: string;
        /**
         * only what was done before this time
         */
        until?: string;
        /**
         * only calls that were refused
         */
        refused?: boolean;
    };
    url: '/admin/v1/audit.csv';
};

export type AdminAuditExportCsvResponses = {
    /**
     * The records, one a line.
     */
    200: string;
};

export type AdminAuditExportCsvResponse = AdminAuditExportCsvResponses[keyof AdminAuditExportCsvResponses];

export type AdminAuditVerifyData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: {
        /**
         * seq and hash of an earlier verification, seq:hash: that record must still be there, as it was
         */
        known?: string;
    };
    url: '/admin/v1/audit/verification';
};

export type AdminAuditVerifyResponses = {
    /**
     * OK
     */
    200: AuditVerification;
};

export type AdminAuditVerifyResponse = AdminAuditVerifyResponses[keyof AdminAuditVerifyResponses];

export type AdminUsageListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
        /**
         * id or name; none: all that the key administers
         */
        organization?: string;
        /**
         * only what was done in this namespace
         */
        namespace?: string;
        /**
         * only what was done for this integration
         */
        integration_id?: string;
        /**
         * only what was done with this key
         */
        key_id?: string;
        /**
         * only what was done at this time or later; to the hour, from the first one that begins then
         */
        from?: string;
        /**
         * only what was done before this time; to the hour, with the one that it lies in
         */
        to?: string;
        /**
         * what a row sums up: an hour, a day in UTC, or all of the time asked for
         */
        by?: 'hour' | 'day' | 'total';
    };
    url: '/admin/v1/usage';
};

export type AdminUsageListResponses = {
    /**
     * OK
     */
    200: UsageRows;
};

export type AdminUsageListResponse = AdminUsageListResponses[keyof AdminUsageListResponses];

export type AdminUsageExportCsvData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: {
        /**
         * id or name; none: all that the key administers
         */
        organization?: string;
        /**
         * only what was done in this namespace
         */
        namespace?: string;
        /**
         * only what was done for this integration
         */
        integration_id?: string;
        /**
         * only what was done with this key
         */
        key_id?: string;
        /**
         * only what was done at this time or later; to the hour, from the first one that begins then
         */
        from?: string;
        /**
         * only what was done before this time; to the hour, with the one that it lies in
         */
        to?: string;
        /**
         * what a row sums up: an hour, a day in UTC, or all of the time asked for
         */
        by?: 'hour' | 'day' | 'total';
    };
    url: '/admin/v1/usage.csv';
};

export type AdminUsageExportCsvResponses = {
    /**
     * What was done, one row a line.
     */
    200: string;
};

export type AdminUsageExportCsvResponse = AdminUsageExportCsvResponses[keyof AdminUsageExportCsvResponses];

export type AdminUsageBytesData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
        /**
         * id or name; none: all that the key administers
         */
        organization?: string;
        /**
         * only what was done in this namespace
         */
        namespace?: string;
        /**
         * only what was done for this integration
         */
        integration_id?: string;
        /**
         * what was kept at the end of the hour that this time lies in; none: now
         */
        at?: string;
    };
    url: '/admin/v1/usage/bytes';
};

export type AdminUsageBytesResponses = {
    /**
     * OK
     */
    200: UsageAllKept;
};

export type AdminUsageBytesResponse = AdminUsageBytesResponses[keyof AdminUsageBytesResponses];

export type AdminQuotasGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/quotas';
};

export type AdminQuotasGetResponses = {
    /**
     * OK
     */
    200: UsageQuotas;
};

export type AdminQuotasGetResponse = AdminQuotasGetResponses[keyof AdminQuotasGetResponses];

export type AdminQuotasChangeData = {
    /**
     * At most 64 KiB.
     */
    body: UsageChangeQuotas;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/quotas';
};

export type AdminQuotasChangeResponses = {
    /**
     * OK
     */
    200: UsageQuotas;
};

export type AdminQuotasChangeResponse = AdminQuotasChangeResponses[keyof AdminQuotasChangeResponses];

export type RerankData = {
    /**
     * At most 32 MiB.
     */
    body: RerankRequest;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/rerank';
};

export type RerankResponses = {
    /**
     * OK
     */
    200: RerankResult;
};

export type RerankResponse = RerankResponses[keyof RerankResponses];

export type RerankV1Data = {
    /**
     * At most 32 MiB.
     */
    body: RerankAliasRequest;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/v1/rerank';
};

export type RerankV1Responses = {
    /**
     * OK
     */
    200: RerankV1Result;
};

export type RerankV1Response = RerankV1Responses[keyof RerankV1Responses];

export type RerankV2Data = {
    /**
     * At most 32 MiB.
     */
    body: RerankAliasRequest;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/v2/rerank';
};

export type RerankV2Responses = {
    /**
     * OK
     */
    200: RerankV2Result;
};

export type RerankV2Response = RerankV2Responses[keyof RerankV2Responses];

export type ModelsListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: {
        /**
         * only models of this kind
         */
        kind?: 'embedding' | 'sparse' | 'rerank' | 'answer';
    };
    url: '/models';
};

export type ModelsListResponses = {
    /**
     * OK
     */
    200: ModelList;
};

export type ModelsListResponse = ModelsListResponses[keyof ModelsListResponses];

export type ModelsGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the model
         */
        id: string;
    };
    query?: never;
    url: '/models/{id}';
};

export type ModelsGetResponses = {
    /**
     * OK
     */
    200: Model;
};

export type ModelsGetResponse = ModelsGetResponses[keyof ModelsGetResponses];

export type SourceKindsListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/source_kinds';
};

export type SourceKindsListResponses = {
    /**
     * OK
     */
    200: SourceKinds;
};

export type SourceKindsListResponse = SourceKindsListResponses[keyof SourceKindsListResponses];

export type SourcesListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
        /**
         * only sources of this namespace
         */
        namespace?: string;
        /**
         * only sources of this kind
         */
        kind?: string;
        /**
         * only sources in this state
         */
        state?: 'idle' | 'syncing' | 'paused' | 'error' | 'deleting';
    };
    url: '/sources';
};

export type SourcesListResponses = {
    /**
     * OK
     */
    200: Sources;
};

export type SourcesListResponse = SourcesListResponses[keyof SourcesListResponses];

export type SourcesCreateData = {
    /**
     * At most 1 MiB.
     */
    body: CreateSource;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/sources';
};

export type SourcesCreateResponses = {
    /**
     * The source.
     */
    201: Source;
};

export type SourcesCreateResponse = SourcesCreateResponses[keyof SourcesCreateResponses];

export type SourcesCheckData = {
    /**
     * At most 1 MiB.
     */
    body: CheckSource;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/sources/check';
};

export type SourcesCheckResponses = {
    /**
     * OK
     */
    200: SourceChecked;
};

export type SourcesCheckResponse = SourcesCheckResponses[keyof SourcesCheckResponses];

export type SourcesDeleteData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the source
         */
        id: string;
    };
    query?: {
        /**
         * what becomes of its documents
         */
        documents?: 'keep' | 'delete';
    };
    url: '/sources/{id}';
};

export type SourcesDeleteResponses = {
    /**
     * It is going.
     */
    202: Source;
};

export type SourcesDeleteResponse = SourcesDeleteResponses[keyof SourcesDeleteResponses];

export type SourcesGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the source
         */
        id: string;
    };
    query?: never;
    url: '/sources/{id}';
};

export type SourcesGetResponses = {
    /**
     * OK
     */
    200: Source;
};

export type SourcesGetResponse = SourcesGetResponses[keyof SourcesGetResponses];

export type SourcesUpdateData = {
    /**
     * At most 1 MiB.
     */
    body: UpdateSource;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the source
         */
        id: string;
    };
    query?: never;
    url: '/sources/{id}';
};

export type SourcesUpdateResponses = {
    /**
     * OK
     */
    200: Source;
};

export type SourcesUpdateResponse = SourcesUpdateResponses[keyof SourcesUpdateResponses];

export type SourcesSyncData = {
    /**
     * At most 4 KiB.
     */
    body?: SyncSource;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the source
         */
        id: string;
    };
    query?: never;
    url: '/sources/{id}/sync';
};

export type SourcesSyncResponses = {
    /**
     * This run is under way already.
     */
    200: SourceRun;
    /**
     * The run is queued.
     */
    202: SourceRun;
};

export type SourcesSyncResponse = SourcesSyncResponses[keyof SourcesSyncResponses];

export type SourcesApplyDeletionsData = {
    /**
     * At most 4 KiB.
     */
    body: SourceApplyDeletions;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the source
         */
        id: string;
    };
    query?: never;
    url: '/sources/{id}/apply_deletions';
};

export type SourcesApplyDeletionsResponses = {
    /**
     * The run is queued.
     */
    202: SourceRun;
};

export type SourcesApplyDeletionsResponse = SourcesApplyDeletionsResponses[keyof SourcesApplyDeletionsResponses];

export type SourcesItemsListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the source
         */
        id: string;
    };
    query?: {
        /**
         * only items in this state
         */
        status?: 'active' | 'failed';
        /**
         * only items whose key begins with it
         */
        prefix?: string;
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
    };
    url: '/sources/{id}/items';
};

export type SourcesItemsListResponses = {
    /**
     * OK
     */
    200: SourceItems;
};

export type SourcesItemsListResponse = SourcesItemsListResponses[keyof SourcesItemsListResponses];

export type SourcesItemsPushData = {
    /**
     * At most 32 MiB.
     */
    body: SourcePushItems;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the source
         */
        id: string;
    };
    query?: never;
    url: '/sources/{id}/items';
};

export type SourcesItemsPushResponses = {
    /**
     * OK
     */
    200: SourcePushed;
};

export type SourcesItemsPushResponse = SourcesItemsPushResponses[keyof SourcesItemsPushResponses];

export type SourcesRunsListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the source
         */
        id: string;
    };
    query?: {
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
    };
    url: '/sources/{id}/runs';
};

export type SourcesRunsListResponses = {
    /**
     * OK
     */
    200: SourceRuns;
};

export type SourcesRunsListResponse = SourcesRunsListResponses[keyof SourcesRunsListResponses];

export type SourcesRunsBeginData = {
    /**
     * At most 4 KiB.
     */
    body?: SourceBeginRun;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the source
         */
        id: string;
    };
    query?: never;
    url: '/sources/{id}/runs';
};

export type SourcesRunsBeginResponses = {
    /**
     * The run. Give its id with the items.
     */
    201: SourceBegun;
};

export type SourcesRunsBeginResponse = SourcesRunsBeginResponses[keyof SourcesRunsBeginResponses];

export type SourcesRunsGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the source
         */
        id: string;
        /**
         * id of the run
         */
        run: string;
    };
    query?: never;
    url: '/sources/{id}/runs/{run}';
};

export type SourcesRunsGetResponses = {
    /**
     * OK
     */
    200: SourceRun;
};

export type SourcesRunsGetResponse = SourcesRunsGetResponses[keyof SourcesRunsGetResponses];

export type SourcesRunsItemsData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the source
         */
        id: string;
        /**
         * id of the run
         */
        run: string;
    };
    query?: {
        /**
         * only items that became this
         */
        status?: 'created' | 'updated' | 'deleted' | 'withheld' | 'failed' | 'skipped';
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
    };
    url: '/sources/{id}/runs/{run}/items';
};

export type SourcesRunsItemsResponses = {
    /**
     * OK
     */
    200: SourceRunItems;
};

export type SourcesRunsItemsResponse = SourcesRunsItemsResponses[keyof SourcesRunsItemsResponses];

export type SourcesRunsCancelData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the source
         */
        id: string;
        /**
         * id of the run
         */
        run: string;
    };
    query?: never;
    url: '/sources/{id}/runs/{run}/cancel';
};

export type SourcesRunsCancelResponses = {
    /**
     * OK
     */
    200: SourceRun;
};

export type SourcesRunsCancelResponse = SourcesRunsCancelResponses[keyof SourcesRunsCancelResponses];

export type SourcesRunsRetryFailedData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the source
         */
        id: string;
        /**
         * id of the run
         */
        run: string;
    };
    query?: never;
    url: '/sources/{id}/runs/{run}/retry_failed';
};

export type SourcesRunsRetryFailedResponses = {
    /**
     * The run is queued.
     */
    202: SourceRun;
};

export type SourcesRunsRetryFailedResponse = SourcesRunsRetryFailedResponses[keyof SourcesRunsRetryFailedResponses];

export type SourcesRunsCompleteData = {
    /**
     * At most 4 KiB.
     */
    body?: SourceCompleteRun;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the source
         */
        id: string;
        /**
         * id of the run
         */
        run: string;
    };
    query?: never;
    url: '/sources/{id}/runs/{run}/complete';
};

export type SourcesRunsCompleteResponses = {
    /**
     * The run is about to end.
     */
    202: SourceRun;
};

export type SourcesRunsCompleteResponse = SourcesRunsCompleteResponses[keyof SourcesRunsCompleteResponses];

export type EventKindsListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/event_kinds';
};

export type EventKindsListResponses = {
    /**
     * OK
     */
    200: EventKindList;
};

export type EventKindsListResponse = EventKindsListResponses[keyof EventKindsListResponses];

export type EventsListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: {
        /**
         * next_cursor of the answer before; none: from the oldest that is kept, latest: from now on, newest: from as many before the end as limit says
         */
        after?: string;
        /**
         * only events of these kinds; those of memories, end users, quotas and keys are for admin keys
         */
        kinds?: Array<'namespace.created' | 'namespace.deleted' | 'namespace.reindexed' | 'documents.written' | 'documents.deleted' | 'source.run.completed' | 'source.run.failed' | 'source.deletions_withheld' | 'source.credentials_failed' | 'source.state_changed' | 'memory.created' | 'memory.updated' | 'memory.tombstoned' | 'memory.restored' | 'memory.deleted' | 'user.erased' | 'quota.exceeded' | 'key.created' | 'key.revoked' | 'model.state_changed' | 'webhook.disabled'>;
        /**
         * how many at most
         */
        limit?: number;
        /**
         * seconds to wait for an event where there is none
         */
        wait?: number;
    };
    url: '/events';
};

export type EventsListResponses = {
    /**
     * OK
     */
    200: EventPage;
};

export type EventsListResponse = EventsListResponses[keyof EventsListResponses];

export type EventsGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the event
         */
        id: string;
    };
    query?: never;
    url: '/events/{id}';
};

export type EventsGetResponses = {
    /**
     * OK
     */
    200: EventTold;
};

export type EventsGetResponse = EventsGetResponses[keyof EventsGetResponses];

export type AdminEventsListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: {
        /**
         * next_cursor of the answer before; none: from the oldest that is kept, latest: from now on, newest: from as many before the end as limit says
         */
        after?: string;
        /**
         * only events of these kinds; those of memories, end users, quotas and keys are for admin keys
         */
        kinds?: Array<'namespace.created' | 'namespace.deleted' | 'namespace.reindexed' | 'documents.written' | 'documents.deleted' | 'source.run.completed' | 'source.run.failed' | 'source.deletions_withheld' | 'source.credentials_failed' | 'source.state_changed' | 'memory.created' | 'memory.updated' | 'memory.tombstoned' | 'memory.restored' | 'memory.deleted' | 'user.erased' | 'quota.exceeded' | 'key.created' | 'key.revoked' | 'model.state_changed' | 'webhook.disabled'>;
        /**
         * how many at most
         */
        limit?: number;
        /**
         * seconds to wait for an event where there is none
         */
        wait?: number;
    };
    url: '/admin/v1/organizations/{org}/events';
};

export type AdminEventsListResponses = {
    /**
     * OK
     */
    200: EventPage;
};

export type AdminEventsListResponse = AdminEventsListResponses[keyof AdminEventsListResponses];

export type AdminEventsGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the event
         */
        id: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/events/{id}';
};

export type AdminEventsGetResponses = {
    /**
     * OK
     */
    200: EventTold;
};

export type AdminEventsGetResponse = AdminEventsGetResponses[keyof AdminEventsGetResponses];

export type WebhooksListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/webhooks';
};

export type WebhooksListResponses = {
    /**
     * OK
     */
    200: Webhooks;
};

export type WebhooksListResponse = WebhooksListResponses[keyof WebhooksListResponses];

export type WebhooksCreateData = {
    /**
     * At most 64 KiB.
     */
    body: WebhookCreate;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/webhooks';
};

export type WebhooksCreateResponses = {
    /**
     * The webhook, with its secret.
     */
    201: WebhookMade;
};

export type WebhooksCreateResponse = WebhooksCreateResponses[keyof WebhooksCreateResponses];

export type WebhooksDeleteData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the webhook
         */
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}';
};

export type WebhooksDeleteResponses = {
    /**
     * OK
     */
    200: WebhookDeleted;
};

export type WebhooksDeleteResponse = WebhooksDeleteResponses[keyof WebhooksDeleteResponses];

export type WebhooksGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the webhook
         */
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}';
};

export type WebhooksGetResponses = {
    /**
     * OK
     */
    200: Webhook;
};

export type WebhooksGetResponse = WebhooksGetResponses[keyof WebhooksGetResponses];

export type WebhooksChangeData = {
    /**
     * At most 64 KiB.
     */
    body: WebhookChange;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the webhook
         */
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}';
};

export type WebhooksChangeResponses = {
    /**
     * OK
     */
    200: Webhook;
};

export type WebhooksChangeResponse = WebhooksChangeResponses[keyof WebhooksChangeResponses];

export type WebhooksTestData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the webhook
         */
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}/test';
};

export type WebhooksTestResponses = {
    /**
     * OK
     */
    200: WebhookTested;
};

export type WebhooksTestResponse = WebhooksTestResponses[keyof WebhooksTestResponses];

export type WebhooksRotateData = {
    /**
     * At most 64 KiB.
     */
    body?: WebhookRotate;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the webhook
         */
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}/rotate';
};

export type WebhooksRotateResponses = {
    /**
     * OK
     */
    200: WebhookMade;
};

export type WebhooksRotateResponse = WebhooksRotateResponses[keyof WebhooksRotateResponses];

export type WebhooksDeliveriesListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the webhook
         */
        id: string;
    };
    query?: {
        /**
         * only deliveries of this status
         */
        status?: 'pending' | 'succeeded' | 'failed' | 'dropped';
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
    };
    url: '/webhooks/{id}/deliveries';
};

export type WebhooksDeliveriesListResponses = {
    /**
     * OK
     */
    200: WebhookDeliveries;
};

export type WebhooksDeliveriesListResponse = WebhooksDeliveriesListResponses[keyof WebhooksDeliveriesListResponses];

export type WebhooksDeliveriesGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the webhook
         */
        id: string;
        /**
         * id of the delivery
         */
        delivery_id: string;
    };
    query?: never;
    url: '/webhooks/{id}/deliveries/{delivery_id}';
};

export type WebhooksDeliveriesGetResponses = {
    /**
     * OK
     */
    200: WebhookDelivery;
};

export type WebhooksDeliveriesGetResponse = WebhooksDeliveriesGetResponses[keyof WebhooksDeliveriesGetResponses];

export type WebhooksDeliveriesRedeliverData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the webhook
         */
        id: string;
        /**
         * id of the delivery
         */
        delivery_id: string;
    };
    query?: never;
    url: '/webhooks/{id}/deliveries/{delivery_id}/redeliver';
};

export type WebhooksDeliveriesRedeliverResponses = {
    /**
     * The delivery that will bring it.
     */
    202: WebhookDelivery;
};

export type WebhooksDeliveriesRedeliverResponse = WebhooksDeliveriesRedeliverResponses[keyof WebhooksDeliveriesRedeliverResponses];

export type WebhooksRecoverData = {
    /**
     * At most 64 KiB.
     */
    body: WebhookRecover;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id of the webhook
         */
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}/recover';
};

export type WebhooksRecoverResponses = {
    /**
     * OK
     */
    200: WebhookRecovered;
};

export type WebhooksRecoverResponse = WebhooksRecoverResponses[keyof WebhooksRecoverResponses];

export type AdminWebhooksListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/webhooks';
};

export type AdminWebhooksListResponses = {
    /**
     * OK
     */
    200: Webhooks;
};

export type AdminWebhooksListResponse = AdminWebhooksListResponses[keyof AdminWebhooksListResponses];

export type AdminWebhooksCreateData = {
    /**
     * At most 64 KiB.
     */
    body: WebhookCreateOf;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/webhooks';
};

export type AdminWebhooksCreateResponses = {
    /**
     * The webhook, with its secret.
     */
    201: WebhookMade;
};

export type AdminWebhooksCreateResponse = AdminWebhooksCreateResponses[keyof AdminWebhooksCreateResponses];

export type AdminWebhooksDeleteData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the webhook
         */
        id: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/webhooks/{id}';
};

export type AdminWebhooksDeleteResponses = {
    /**
     * OK
     */
    200: WebhookDeleted;
};

export type AdminWebhooksDeleteResponse = AdminWebhooksDeleteResponses[keyof AdminWebhooksDeleteResponses];

export type AdminWebhooksGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the webhook
         */
        id: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/webhooks/{id}';
};

export type AdminWebhooksGetResponses = {
    /**
     * OK
     */
    200: Webhook;
};

export type AdminWebhooksGetResponse = AdminWebhooksGetResponses[keyof AdminWebhooksGetResponses];

export type AdminWebhooksChangeData = {
    /**
     * At most 64 KiB.
     */
    body: WebhookChangeOf;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the webhook
         */
        id: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/webhooks/{id}';
};

export type AdminWebhooksChangeResponses = {
    /**
     * OK
     */
    200: Webhook;
};

export type AdminWebhooksChangeResponse = AdminWebhooksChangeResponses[keyof AdminWebhooksChangeResponses];

export type AdminWebhooksTestData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the webhook
         */
        id: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/webhooks/{id}/test';
};

export type AdminWebhooksTestResponses = {
    /**
     * OK
     */
    200: WebhookTested;
};

export type AdminWebhooksTestResponse = AdminWebhooksTestResponses[keyof AdminWebhooksTestResponses];

export type AdminWebhooksRotateData = {
    /**
     * At most 64 KiB.
     */
    body?: WebhookRotateOf;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the webhook
         */
        id: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/webhooks/{id}/rotate';
};

export type AdminWebhooksRotateResponses = {
    /**
     * OK
     */
    200: WebhookMade;
};

export type AdminWebhooksRotateResponse = AdminWebhooksRotateResponses[keyof AdminWebhooksRotateResponses];

export type AdminWebhooksDeliveriesListData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the webhook
         */
        id: string;
    };
    query?: {
        /**
         * only deliveries of this status
         */
        status?: 'pending' | 'succeeded' | 'failed' | 'dropped';
        /**
         * how many at most
         */
        limit?: number;
        /**
         * next_cursor of the page before; none for the first page
         */
        cursor?: string;
    };
    url: '/admin/v1/organizations/{org}/webhooks/{id}/deliveries';
};

export type AdminWebhooksDeliveriesListResponses = {
    /**
     * OK
     */
    200: WebhookDeliveries;
};

export type AdminWebhooksDeliveriesListResponse = AdminWebhooksDeliveriesListResponses[keyof AdminWebhooksDeliveriesListResponses];

export type AdminWebhooksDeliveriesGetData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the webhook
         */
        id: string;
        /**
         * id of the delivery
         */
        delivery_id: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/webhooks/{id}/deliveries/{delivery_id}';
};

export type AdminWebhooksDeliveriesGetResponses = {
    /**
     * OK
     */
    200: WebhookDelivery;
};

export type AdminWebhooksDeliveriesGetResponse = AdminWebhooksDeliveriesGetResponses[keyof AdminWebhooksDeliveriesGetResponses];

export type AdminWebhooksDeliveriesRedeliverData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the webhook
         */
        id: string;
        /**
         * id of the delivery
         */
        delivery_id: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/webhooks/{id}/deliveries/{delivery_id}/redeliver';
};

export type AdminWebhooksDeliveriesRedeliverResponses = {
    /**
     * The delivery that will bring it.
     */
    202: WebhookDelivery;
};

export type AdminWebhooksDeliveriesRedeliverResponse = AdminWebhooksDeliveriesRedeliverResponses[keyof AdminWebhooksDeliveriesRedeliverResponses];

export type AdminWebhooksRecoverData = {
    /**
     * At most 64 KiB.
     */
    body: WebhookRecoverOf;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path: {
        /**
         * id or name of the organization
         */
        org: string;
        /**
         * id of the webhook
         */
        id: string;
    };
    query?: never;
    url: '/admin/v1/organizations/{org}/webhooks/{id}/recover';
};

export type AdminWebhooksRecoverResponses = {
    /**
     * OK
     */
    200: WebhookRecovered;
};

export type AdminWebhooksRecoverResponse = AdminWebhooksRecoverResponses[keyof AdminWebhooksRecoverResponses];

export type HealthData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/health';
};

export type HealthResponses = {
    /**
     * OK
     */
    200: StatusHealth;
};

export type HealthResponse = HealthResponses[keyof HealthResponses];

export type HealthDeepData = {
    body?: never;
    headers?: {
        /**
         * Names the request in logs and error bodies. One of other than 1-128 characters of A-Z a-z 0-9 . _ - is replaced.
         */
        'X-Request-Id'?: string;
        /**
         * Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.
         */
        'X-Timeout-Ms'?: number;
    };
    path?: never;
    query?: never;
    url: '/health/deep';
};

export type HealthDeepResponses = {
    /**
     * Search works; with status degraded, without an optional part.
     */
    200: StatusDeep;
};

export type HealthDeepResponse = HealthDeepResponses[keyof HealthDeepResponses];

export type OnNamespaceCreatedWebhookPayload = NamespaceEvent;

export type OnNamespaceCreatedWebhookRequest = {
    body: OnNamespaceCreatedWebhookPayload;
    key: 'namespace.created';
    path?: never;
    query?: never;
};

export type OnNamespaceDeletedWebhookPayload = NamespaceEvent;

export type OnNamespaceDeletedWebhookRequest = {
    body: OnNamespaceDeletedWebhookPayload;
    key: 'namespace.deleted';
    path?: never;
    query?: never;
};

export type OnNamespaceReindexedWebhookPayload = NamespaceEvent;

export type OnNamespaceReindexedWebhookRequest = {
    body: OnNamespaceReindexedWebhookPayload;
    key: 'namespace.reindexed';
    path?: never;
    query?: never;
};

export type OnDocumentsWrittenWebhookPayload = DocumentsEvent;

export type OnDocumentsWrittenWebhookRequest = {
    body: OnDocumentsWrittenWebhookPayload;
    key: 'documents.written';
    path?: never;
    query?: never;
};

export type OnDocumentsDeletedWebhookPayload = DocumentsEvent;

export type OnDocumentsDeletedWebhookRequest = {
    body: OnDocumentsDeletedWebhookPayload;
    key: 'documents.deleted';
    path?: never;
    query?: never;
};

export type OnSourceRunCompletedWebhookPayload = RunEvent;

export type OnSourceRunCompletedWebhookRequest = {
    body: OnSourceRunCompletedWebhookPayload;
    key: 'source.run.completed';
    path?: never;
    query?: never;
};

export type OnSourceRunFailedWebhookPayload = RunEvent;

export type OnSourceRunFailedWebhookRequest = {
    body: OnSourceRunFailedWebhookPayload;
    key: 'source.run.failed';
    path?: never;
    query?: never;
};

export type OnSourceDeletionsWithheldWebhookPayload = RunEvent;

export type OnSourceDeletionsWithheldWebhookRequest = {
    body: OnSourceDeletionsWithheldWebhookPayload;
    key: 'source.deletions_withheld';
    path?: never;
    query?: never;
};

export type OnSourceCredentialsFailedWebhookPayload = RunEvent;

export type OnSourceCredentialsFailedWebhookRequest = {
    body: OnSourceCredentialsFailedWebhookPayload;
    key: 'source.credentials_failed';
    path?: never;
    query?: never;
};

export type OnSourceStateChangedWebhookPayload = SourceEvent;

export type OnSourceStateChangedWebhookRequest = {
    body: OnSourceStateChangedWebhookPayload;
    key: 'source.state_changed';
    path?: never;
    query?: never;
};

export type OnMemoryCreatedWebhookPayload = MemoryEvent;

export type OnMemoryCreatedWebhookRequest = {
    body: OnMemoryCreatedWebhookPayload;
    key: 'memory.created';
    path?: never;
    query?: never;
};

export type OnMemoryUpdatedWebhookPayload = MemoryEvent;

export type OnMemoryUpdatedWebhookRequest = {
    body: OnMemoryUpdatedWebhookPayload;
    key: 'memory.updated';
    path?: never;
    query?: never;
};

export type OnMemoryTombstonedWebhookPayload = MemoryEvent;

export type OnMemoryTombstonedWebhookRequest = {
    body: OnMemoryTombstonedWebhookPayload;
    key: 'memory.tombstoned';
    path?: never;
    query?: never;
};

export type OnMemoryRestoredWebhookPayload = MemoryEvent;

export type OnMemoryRestoredWebhookRequest = {
    body: OnMemoryRestoredWebhookPayload;
    key: 'memory.restored';
    path?: never;
    query?: never;
};

export type OnMemoryDeletedWebhookPayload = MemoryEvent;

export type OnMemoryDeletedWebhookRequest = {
    body: OnMemoryDeletedWebhookPayload;
    key: 'memory.deleted';
    path?: never;
    query?: never;
};

export type OnUserErasedWebhookPayload = UserEvent;

export type OnUserErasedWebhookRequest = {
    body: OnUserErasedWebhookPayload;
    key: 'user.erased';
    path?: never;
    query?: never;
};

export type OnQuotaExceededWebhookPayload = QuotaEvent;

export type OnQuotaExceededWebhookRequest = {
    body: OnQuotaExceededWebhookPayload;
    key: 'quota.exceeded';
    path?: never;
    query?: never;
};

export type OnKeyCreatedWebhookPayload = KeyEvent;

export type OnKeyCreatedWebhookRequest = {
    body: OnKeyCreatedWebhookPayload;
    key: 'key.created';
    path?: never;
    query?: never;
};

export type OnKeyRevokedWebhookPayload = KeyEvent;

export type OnKeyRevokedWebhookRequest = {
    body: OnKeyRevokedWebhookPayload;
    key: 'key.revoked';
    path?: never;
    query?: never;
};

export type OnModelStateChangedWebhookPayload = ModelEvent;

export type OnModelStateChangedWebhookRequest = {
    body: OnModelStateChangedWebhookPayload;
    key: 'model.state_changed';
    path?: never;
    query?: never;
};

export type OnWebhookDisabledWebhookPayload = WebhookEvent;

export type OnWebhookDisabledWebhookRequest = {
    body: OnWebhookDisabledWebhookPayload;
    key: 'webhook.disabled';
    path?: never;
    query?: never;
};
