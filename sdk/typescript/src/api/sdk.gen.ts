// Made by sdk/generate.sh.

import { client } from './client.gen.js';
import { type Client, type ClientMeta, formDataBodySerializer, type Options as Options2, type RequestResult, type TDataShape } from './client/index.js';
import type { AdminAuditExportCsvData, AdminAuditExportCsvResponses, AdminAuditExportData, AdminAuditExportResponses, AdminAuditListData, AdminAuditListResponses, AdminAuditVerifyData, AdminAuditVerifyResponses, AdminEndUsersEraseData, AdminEndUsersEraseResponses, AdminEndUsersExportData, AdminEndUsersExportResponses, AdminEndUsersListData, AdminEndUsersListResponses, AdminEndUsersReindexData, AdminEndUsersReindexingData, AdminEndUsersReindexingResponses, AdminEndUsersReindexResponses, AdminEventsGetData, AdminEventsGetResponses, AdminEventsListData, AdminEventsListResponses, AdminIntegrationsChangeData, AdminIntegrationsChangeResponses, AdminIntegrationsCreateData, AdminIntegrationsCreateResponses, AdminIntegrationsGetData, AdminIntegrationsGetResponses, AdminIntegrationsKeysCreateData, AdminIntegrationsKeysCreateResponses, AdminIntegrationsKeysListData, AdminIntegrationsKeysListResponses, AdminIntegrationsListData, AdminIntegrationsListResponses, AdminJobsCancelData, AdminJobsCancelResponses, AdminJobsGetData, AdminJobsGetResponses, AdminJobsListData, AdminJobsListResponses, AdminKeysChangeData, AdminKeysChangeResponses, AdminKeysCreateData, AdminKeysCreateResponses, AdminKeysGetData, AdminKeysGetResponses, AdminKeysListData, AdminKeysListResponses, AdminKeysRevokeData, AdminKeysRevokeResponses, AdminKeysRotateData, AdminKeysRotateResponses, AdminMembersChangeData, AdminMembersChangeResponses, AdminMembersGetData, AdminMembersGetResponses, AdminMembersInviteAgainData, AdminMembersInviteAgainResponses, AdminMembersInviteData, AdminMembersInviteResponses, AdminMembersListData, AdminMembersListResponses, AdminMembersRemoveData, AdminMembersRemoveResponses, AdminNamespacesDiscardData, AdminNamespacesDiscardResponses, AdminNamespacesExportData, AdminNamespacesExportResponses, AdminNamespacesImportData, AdminNamespacesImportResponses, AdminNamespacesListData, AdminNamespacesListResponses, AdminNamespacesReindexData, AdminNamespacesReindexingData, AdminNamespacesReindexingResponses, AdminNamespacesReindexResponses, AdminOrganizationsChangeData, AdminOrganizationsChangeResponses, AdminOrganizationsCreateData, AdminOrganizationsCreateResponses, AdminOrganizationsDeleteData, AdminOrganizationsDeleteResponses, AdminOrganizationsGetData, AdminOrganizationsGetResponses, AdminOrganizationsListData, AdminOrganizationsListResponses, AdminQuotasChangeData, AdminQuotasChangeResponses, AdminQuotasGetData, AdminQuotasGetResponses, AdminSettingsGetData, AdminSettingsGetResponses, AdminUsageBytesData, AdminUsageBytesResponses, AdminUsageExportCsvData, AdminUsageExportCsvResponses, AdminUsageListData, AdminUsageListResponses, AdminWebhooksChangeData, AdminWebhooksChangeResponses, AdminWebhooksCreateData, AdminWebhooksCreateResponses, AdminWebhooksDeleteData, AdminWebhooksDeleteResponses, AdminWebhooksDeliveriesGetData, AdminWebhooksDeliveriesGetResponses, AdminWebhooksDeliveriesListData, AdminWebhooksDeliveriesListResponses, AdminWebhooksDeliveriesRedeliverData, AdminWebhooksDeliveriesRedeliverResponses, AdminWebhooksGetData, AdminWebhooksGetResponses, AdminWebhooksListData, AdminWebhooksListResponses, AdminWebhooksRecoverData, AdminWebhooksRecoverResponses, AdminWebhooksRotateData, AdminWebhooksRotateResponses, AdminWebhooksTestData, AdminWebhooksTestResponses, DocumentsDeleteData, DocumentsDeleteResponses, DocumentsGetData, DocumentsGetResponses, DocumentsListData, DocumentsListResponses, DocumentsWriteData, DocumentsWriteResponses, EventKindsListData, EventKindsListResponses, EventsGetData, EventsGetResponses, EventsListData, EventsListResponses, FilesUploadData, FilesUploadResponses, FormatsListData, FormatsListResponses, GrantsCreateData, GrantsCreateResponses, GrantsListData, GrantsListResponses, GrantsRevokeData, GrantsRevokeResponses, HealthData, HealthDeepData, HealthDeepResponses, HealthResponses, MemoriesBatchData, MemoriesBatchResponses, MemoriesContextData, MemoriesContextResponses, MemoriesDeleteData, MemoriesDeleteResponses, MemoriesGetData, MemoriesGetResponses, MemoriesListData, MemoriesListResponses, MemoriesRecallData, MemoriesRecallResponses, MemoriesRememberData, MemoriesRememberResponses, MemoriesSaveData, MemoriesSaveResponses, MemoriesSearchData, MemoriesSearchResponses, MemoriesStatusData, MemoriesStatusResponses, MemoriesTombstoneData, MemoriesTombstoneResponses, MemoriesUpsertData, MemoriesUpsertResponses, ModelsGetData, ModelsGetResponses, ModelsListData, ModelsListResponses, NamespacesCreateData, NamespacesCreateResponses, NamespacesDeleteData, NamespacesDeleteResponses, NamespacesGetData, NamespacesGetResponses, NamespacesListData, NamespacesListResponses, NamespacesQueryData, NamespacesQueryResponses, OperationsGetData, OperationsGetResponses, QueriesDeleteData, QueriesDeleteResponses, QueriesListData, QueriesListResponses, QueriesRunData, QueriesRunResponses, QueriesSaveData, QueriesSaveResponses, RerankData, RerankResponses, RerankV1Data, RerankV1Responses, RerankV2Data, RerankV2Responses, SourceKindsListData, SourceKindsListResponses, SourcesApplyDeletionsData, SourcesApplyDeletionsResponses, SourcesCheckData, SourcesCheckResponses, SourcesCreateData, SourcesCreateResponses, SourcesDeleteData, SourcesDeleteResponses, SourcesGetData, SourcesGetResponses, SourcesItemsListData, SourcesItemsListResponses, SourcesItemsPushData, SourcesItemsPushResponses, SourcesListData, SourcesListResponses, SourcesRunsBeginData, SourcesRunsBeginResponses, SourcesRunsCancelData, SourcesRunsCancelResponses, SourcesRunsCompleteData, SourcesRunsCompleteResponses, SourcesRunsGetData, SourcesRunsGetResponses, SourcesRunsItemsData, SourcesRunsItemsResponses, SourcesRunsListData, SourcesRunsListResponses, SourcesRunsRetryFailedData, SourcesRunsRetryFailedResponses, SourcesSyncData, SourcesSyncResponses, SourcesUpdateData, SourcesUpdateResponses, UsersEraseData, UsersEraseResponses, WebhooksChangeData, WebhooksChangeResponses, WebhooksCreateData, WebhooksCreateResponses, WebhooksDeleteData, WebhooksDeleteResponses, WebhooksDeliveriesGetData, WebhooksDeliveriesGetResponses, WebhooksDeliveriesListData, WebhooksDeliveriesListResponses, WebhooksDeliveriesRedeliverData, WebhooksDeliveriesRedeliverResponses, WebhooksGetData, WebhooksGetResponses, WebhooksListData, WebhooksListResponses, WebhooksRecoverData, WebhooksRecoverResponses, WebhooksRotateData, WebhooksRotateResponses, WebhooksTestData, WebhooksTestResponses } from './types.gen.js';

export type Options<TData extends TDataShape = TDataShape, ThrowOnError extends boolean = boolean, TResponse = unknown> = Options2<TData, ThrowOnError, TResponse> & {
    /**
     * You can provide a client instance returned by `createClient()` instead of
     * individual options. This might be also useful if you want to implement a
     * custom client.
     */
    client?: Client;
    /**
     * You can pass arbitrary values through the `meta` object. This can be
     * used to access values that aren't defined as part of the SDK function.
     */
    meta?: keyof ClientMeta extends never ? Record<string, unknown> : ClientMeta;
};

/**
 * List the namespaces that hold documents
 *
 * Rate class: `read`.
 */
export const namespacesList = <ThrowOnError extends boolean = false>(options?: Options<NamespacesListData, ThrowOnError>): RequestResult<NamespacesListResponses, unknown, ThrowOnError> => (options?.client ?? client).get<NamespacesListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces',
    ...options
});

/**
 * Create a namespace
 *
 * Needed only for a namespace with a sparse index, of one language, or with an embedding model of its own; otherwise the first write creates it. Idempotent.
 *
 * Rate class: `write`.
 */
export const namespacesCreate = <ThrowOnError extends boolean = false>(options: Options<NamespacesCreateData, ThrowOnError>): RequestResult<NamespacesCreateResponses, unknown, ThrowOnError> => (options.client ?? client).post<NamespacesCreateResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Delete a namespace and every document in it
 *
 * Rate class: `write`.
 */
export const namespacesDelete = <ThrowOnError extends boolean = false>(options: Options<NamespacesDeleteData, ThrowOnError>): RequestResult<NamespacesDeleteResponses, unknown, ThrowOnError> => (options.client ?? client).delete<NamespacesDeleteResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces/{namespace}',
    ...options
});

/**
 * Read a namespace
 *
 * Rate class: `read`.
 */
export const namespacesGet = <ThrowOnError extends boolean = false>(options: Options<NamespacesGetData, ThrowOnError>): RequestResult<NamespacesGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<NamespacesGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces/{namespace}',
    ...options
});

/**
 * List documents
 *
 * Rate class: `read`.
 */
export const documentsList = <ThrowOnError extends boolean = false>(options: Options<DocumentsListData, ThrowOnError>): RequestResult<DocumentsListResponses, unknown, ThrowOnError> => (options.client ?? client).get<DocumentsListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces/{namespace}/documents',
    ...options
});

/**
 * Write up to 100 documents, all or nothing
 *
 * Writing an id replaces the document. 200 means durable and searchable. Prefer: respond-async answers 202 with an operation; Prefer: searchable=soon answers 200 before a remote index has taken the documents, for which the next query waits.
 *
 * Rate class: `write`.
 */
export const documentsWrite = <ThrowOnError extends boolean = false>(options: Options<DocumentsWriteData, ThrowOnError>): RequestResult<DocumentsWriteResponses, unknown, ThrowOnError> => (options.client ?? client).post<DocumentsWriteResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces/{namespace}/documents',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Read a document
 *
 * Rate class: `read`.
 */
export const documentsGet = <ThrowOnError extends boolean = false>(options: Options<DocumentsGetData, ThrowOnError>): RequestResult<DocumentsGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<DocumentsGetResponses, unknown, ThrowOnError>({
    querySerializer: { parameters: { include: { array: { explode: false } } } },
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces/{namespace}/documents/{id}',
    ...options
});

/**
 * Delete documents by ids or by filter
 *
 * Ids that do not exist are skipped. A filter call deletes up to 10,000 chunks; repeat it while `more` is true.
 *
 * Rate class: `write`.
 */
export const documentsDelete = <ThrowOnError extends boolean = false>(options: Options<DocumentsDeleteData, ThrowOnError>): RequestResult<DocumentsDeleteResponses, unknown, ThrowOnError> => (options.client ?? client).post<DocumentsDeleteResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces/{namespace}/documents/delete',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Read the state of an asynchronous write
 *
 * Rate class: `read`.
 */
export const operationsGet = <ThrowOnError extends boolean = false>(options: Options<OperationsGetData, ThrowOnError>): RequestResult<OperationsGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<OperationsGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces/{namespace}/operations/{operation}',
    ...options
});

/**
 * Write the text of files as documents
 *
 * Reads the text of up to 100 files, each of at most 64 MiB, and writes it: a document for each file, several for a long one. What a file is its content says; GET /formats lists what is read. A file that cannot be read is named with the reason, and the others are written, all or nothing. A file of a name that was uploaded before replaces its documents. The bytes are not kept. Prefer: respond-async answers 202 with an operation once the text is read; Prefer: searchable=soon answers 200 before a remote index has taken the documents, for which the next query waits.
 *
 * Rate class: `write`.
 */
export const filesUpload = <ThrowOnError extends boolean = false>(options: Options<FilesUploadData, ThrowOnError>): RequestResult<FilesUploadResponses, unknown, ThrowOnError> => (options.client ?? client).post<FilesUploadResponses, unknown, ThrowOnError>({
    ...formDataBodySerializer,
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces/{namespace}/files',
    ...options,
    headers: {
        'Content-Type': null,
        ...options.headers
    }
});

/**
 * List the formats of files that are read
 *
 * By media type. None where files are not read on this server.
 *
 * Rate class: `read`.
 */
export const formatsList = <ThrowOnError extends boolean = false>(options?: Options<FormatsListData, ThrowOnError>): RequestResult<FormatsListResponses, unknown, ThrowOnError> => (options?.client ?? client).get<FormatsListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/formats',
    ...options
});

/**
 * Find the chunks that answer a query
 *
 * Hybrid search (vector and keyword, sparse where the namespace has it), filtered before the top-k cut, optionally reranked.
 *
 * Rate class: `read`.
 */
export const namespacesQuery = <ThrowOnError extends boolean = false>(options: Options<NamespacesQueryData, ThrowOnError>): RequestResult<NamespacesQueryResponses, unknown, ThrowOnError> => (options.client ?? client).post<NamespacesQueryResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces/{namespace}/query',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the saved queries of a namespace
 *
 * Rate class: `read`.
 */
export const queriesList = <ThrowOnError extends boolean = false>(options: Options<QueriesListData, ThrowOnError>): RequestResult<QueriesListResponses, unknown, ThrowOnError> => (options.client ?? client).get<QueriesListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces/{namespace}/queries',
    ...options
});

/**
 * Delete a saved query
 *
 * Rate class: `write`.
 */
export const queriesDelete = <ThrowOnError extends boolean = false>(options: Options<QueriesDeleteData, ThrowOnError>): RequestResult<QueriesDeleteResponses, unknown, ThrowOnError> => (options.client ?? client).delete<QueriesDeleteResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces/{namespace}/queries/{query}',
    ...options
});

/**
 * Save a query with the documents that it should find
 *
 * It is asked once, and what it finds is kept for runs to compare with. One that has the name is replaced. Saved queries stay when the namespace is reindexed, and go with it.
 *
 * Rate class: `write`.
 */
export const queriesSave = <ThrowOnError extends boolean = false>(options: Options<QueriesSaveData, ThrowOnError>): RequestResult<QueriesSaveResponses, unknown, ThrowOnError> => (options.client ?? client).put<QueriesSaveResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces/{namespace}/queries/{query}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Ask all saved queries of a namespace, and say which find what they should
 *
 * One call for rates, whatever it asks. It keeps nothing, so a read-only key can run it; saving a query again takes what it finds now as what runs compare with.
 *
 * Rate class: `read`.
 */
export const queriesRun = <ThrowOnError extends boolean = false>(options: Options<QueriesRunData, ThrowOnError>): RequestResult<QueriesRunResponses, unknown, ThrowOnError> => (options.client ?? client).post<QueriesRunResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/namespaces/{namespace}/check',
    ...options
});

/**
 * Search the memories of one end user
 *
 * Vector and full-text search, fused and reranked, without a language model. An end user never seen has no results.
 *
 * Scope: `memories:read`. Rate class: `memory_read`.
 */
export const memoriesSearch = <ThrowOnError extends boolean = false>(options: Options<MemoriesSearchData, ThrowOnError>): RequestResult<MemoriesSearchResponses, unknown, ThrowOnError> => (options.client ?? client).post<MemoriesSearchResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/search',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the memories of one end user, newest first
 *
 * Scope: `memories:read`. Rate class: `memory_read`.
 */
export const memoriesList = <ThrowOnError extends boolean = false>(options: Options<MemoriesListData, ThrowOnError>): RequestResult<MemoriesListResponses, unknown, ThrowOnError> => (options.client ?? client).get<MemoriesListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/memories',
    ...options
});

/**
 * Save a memory
 *
 * Saved verbatim. The same content in the same container is kept once. An Idempotency-Key makes the call safe to repeat for 24 hours.
 *
 * Scope: `memories:write`. Rate class: `memory_write`.
 */
export const memoriesSave = <ThrowOnError extends boolean = false>(options: Options<MemoriesSaveData, ThrowOnError>): RequestResult<MemoriesSaveResponses, unknown, ThrowOnError> => (options.client ?? client).post<MemoriesSaveResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/memories',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Save up to 100 memories of one end user
 *
 * Results are one for one in input order; a failed item does not fail the others. The batch counts against quota before any write.
 *
 * Scope: `memories:write`. Rate class: `memory_write`.
 */
export const memoriesBatch = <ThrowOnError extends boolean = false>(options: Options<MemoriesBatchData, ThrowOnError>): RequestResult<MemoriesBatchResponses, unknown, ThrowOnError> => (options.client ?? client).post<MemoriesBatchResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/memories/batch',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Remember messages of a conversation
 *
 * Each message is a memory, kept as it is. Sending a message again changes nothing; one whose id is there with other content is replaced. All of the messages are stored, or none.
 *
 * Scope: `memories:write`. Rate class: `memory_write`.
 */
export const memoriesRemember = <ThrowOnError extends boolean = false>(options: Options<MemoriesRememberData, ThrowOnError>): RequestResult<MemoriesRememberResponses, unknown, ThrowOnError> => (options.client ?? client).post<MemoriesRememberResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/conversations',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Make a block for a prompt of what is remembered of a message
 *
 * What a search finds, as text with markers, within a budget of tokens that it never exceeds, and a citation for each marker. With a key that names a namespace, passages of its documents are in it, too. Without a language model.
 *
 * Scope: `memories:read`. Rate class: `memory_read`.
 */
export const memoriesContext = <ThrowOnError extends boolean = false>(options: Options<MemoriesContextData, ThrowOnError>): RequestResult<MemoriesContextResponses, unknown, ThrowOnError> => (options.client ?? client).post<MemoriesContextResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/context',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Delete memories by id
 *
 * Unknown ids are skipped. A source-owned memory answers 409, and nothing is deleted: its source tombstones it.
 *
 * Scope: `memories:write`. Rate class: `memory_write`.
 */
export const memoriesDelete = <ThrowOnError extends boolean = false>(options: Options<MemoriesDeleteData, ThrowOnError>): RequestResult<MemoriesDeleteResponses, unknown, ThrowOnError> => (options.client ?? client).post<MemoriesDeleteResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/memories/delete',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Tombstone a source-owned memory
 *
 * The content goes, the record stays, so that a late older upsert cannot bring it back.
 *
 * Scope: `memories:write`. Rate class: `memory_write`.
 */
export const memoriesTombstone = <ThrowOnError extends boolean = false>(options: Options<MemoriesTombstoneData, ThrowOnError>): RequestResult<MemoriesTombstoneResponses, unknown, ThrowOnError> => (options.client ?? client).delete<MemoriesTombstoneResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/memories/{externalId}',
    ...options
});

/**
 * Read a source-owned memory's record with its latest receipt
 *
 * Scope: `memories:read`. Rate class: `memory_read`.
 */
export const memoriesGet = <ThrowOnError extends boolean = false>(options: Options<MemoriesGetData, ThrowOnError>): RequestResult<MemoriesGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<MemoriesGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/memories/{externalId}',
    ...options
});

/**
 * Write a version of a source-owned memory
 *
 * Versions only rise. The same request again answers the stored receipt with the header Idempotent-Replayed: true. With X-Mneme-Grant, which an integration may require, the grant must be live.
 *
 * Scope: `memories:write`. Rate class: `memory_write`.
 */
export const memoriesUpsert = <ThrowOnError extends boolean = false>(options: Options<MemoriesUpsertData, ThrowOnError>): RequestResult<MemoriesUpsertResponses, unknown, ThrowOnError> => (options.client ?? client).put<MemoriesUpsertResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/memories/{externalId}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the grants of an end user, newest first
 *
 * Revoked ones, too; of many, the newest.
 *
 * Scope: `memories:read`. Rate class: `memory_read`.
 */
export const grantsList = <ThrowOnError extends boolean = false>(options: Options<GrantsListData, ThrowOnError>): RequestResult<GrantsListResponses, unknown, ThrowOnError> => (options.client ?? client).get<GrantsListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/grants',
    ...options
});

/**
 * Let a source system write an end user's memories
 *
 * The id of the grant goes into the header X-Mneme-Grant of what the source writes. Secrets, where there are any, are encrypted; they serve to give the grant back upstream when it is revoked.
 *
 * Scope: `memories:write`. Rate class: `memory_write`.
 */
export const grantsCreate = <ThrowOnError extends boolean = false>(options: Options<GrantsCreateData, ThrowOnError>): RequestResult<GrantsCreateResponses, unknown, ThrowOnError> => (options.client ?? client).post<GrantsCreateResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/grants',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Revoke a grant
 *
 * What its source writes from now on is refused. A grant with secrets is given back upstream; where that does not answer within 10 s, the call can be repeated.
 *
 * Scope: `memories:write`. Rate class: `memory_write`.
 */
export const grantsRevoke = <ThrowOnError extends boolean = false>(options: Options<GrantsRevokeData, ThrowOnError>): RequestResult<GrantsRevokeResponses, unknown, ThrowOnError> => (options.client ?? client).delete<GrantsRevokeResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/grants/{id}',
    ...options
});

/**
 * Erase an end user for good
 *
 * Everything of the end user goes, from files too, before the answer. Repeating the call is safe; an unknown end user answers zeros.
 *
 * Scope: `users:erase`. Rate class: `memory_write`.
 */
export const usersErase = <ThrowOnError extends boolean = false>(options: Options<UsersEraseData, ThrowOnError>): RequestResult<UsersEraseResponses, unknown, ThrowOnError> => (options.client ?? client).delete<UsersEraseResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/users/{endUserId}',
    ...options
});

/**
 * Check the integration
 *
 * Creates nothing and counts against no limit.
 */
export const memoriesStatus = <ThrowOnError extends boolean = false>(options?: Options<MemoriesStatusData, ThrowOnError>): RequestResult<MemoriesStatusResponses, unknown, ThrowOnError> => (options?.client ?? client).get<MemoriesStatusResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/status',
    ...options
});

/**
 * Answer a question from the memories of one end user
 *
 * Every sentence of the answer carries the marker of a citation, whose quote stands in the memory word for word. Without an answer in the memories, answer is null and abstained true.
 *
 * Scope: `recall:read` and `memories:read`. Rate class: `recall`.
 */
export const memoriesRecall = <ThrowOnError extends boolean = false>(options: Options<MemoriesRecallData, ThrowOnError>): RequestResult<MemoriesRecallResponses, unknown, ThrowOnError> => (options.client ?? client).post<MemoriesRecallResponses, unknown, ThrowOnError>({
    security: [{
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            key: 'personalKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/api/v1/recall',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List organizations
 *
 * Rate class: `admin`.
 */
export const adminOrganizationsList = <ThrowOnError extends boolean = false>(options?: Options<AdminOrganizationsListData, ThrowOnError>): RequestResult<AdminOrganizationsListResponses, unknown, ThrowOnError> => (options?.client ?? client).get<AdminOrganizationsListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations',
    ...options
});

/**
 * Make an organization
 *
 * Rate class: `admin`.
 */
export const adminOrganizationsCreate = <ThrowOnError extends boolean = false>(options: Options<AdminOrganizationsCreateData, ThrowOnError>): RequestResult<AdminOrganizationsCreateResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminOrganizationsCreateResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Delete an organization with everything in it
 *
 * It cannot be undone. Keys are refused at once; namespaces, end users, integrations and keys are removed in the background, which goes on after a crash. Call it again, by the id, to see how far it is: 202 while it goes on, 200 with the counts of what was removed when nothing is left, which can be read for a day. An organization that is not there answers 200. The default organization stays (409), and so does one with a live key that administers all.
 *
 * Rate class: `admin`.
 */
export const adminOrganizationsDelete = <ThrowOnError extends boolean = false>(options: Options<AdminOrganizationsDeleteData, ThrowOnError>): RequestResult<AdminOrganizationsDeleteResponses, unknown, ThrowOnError> => (options.client ?? client).delete<AdminOrganizationsDeleteResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}',
    ...options
});

/**
 * Read an organization
 *
 * Rate class: `admin`.
 */
export const adminOrganizationsGet = <ThrowOnError extends boolean = false>(options: Options<AdminOrganizationsGetData, ThrowOnError>): RequestResult<AdminOrganizationsGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminOrganizationsGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}',
    ...options
});

/**
 * Rename, suspend or resume an organization
 *
 * Rate class: `admin`.
 */
export const adminOrganizationsChange = <ThrowOnError extends boolean = false>(options: Options<AdminOrganizationsChangeData, ThrowOnError>): RequestResult<AdminOrganizationsChangeResponses, unknown, ThrowOnError> => (options.client ?? client).patch<AdminOrganizationsChangeResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List an organization's keys
 *
 * Rate class: `admin`.
 */
export const adminKeysList = <ThrowOnError extends boolean = false>(options: Options<AdminKeysListData, ThrowOnError>): RequestResult<AdminKeysListResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminKeysListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/keys',
    ...options
});

/**
 * Make a key; its secret is in this answer alone
 *
 * Rate class: `admin`.
 */
export const adminKeysCreate = <ThrowOnError extends boolean = false>(options: Options<AdminKeysCreateData, ThrowOnError>): RequestResult<AdminKeysCreateResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminKeysCreateResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/keys',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Revoke a key, within a second everywhere
 *
 * Rate class: `admin`.
 */
export const adminKeysRevoke = <ThrowOnError extends boolean = false>(options: Options<AdminKeysRevokeData, ThrowOnError>): RequestResult<AdminKeysRevokeResponses, unknown, ThrowOnError> => (options.client ?? client).delete<AdminKeysRevokeResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/keys/{id}',
    ...options
});

/**
 * Read a key's description
 *
 * Rate class: `admin`.
 */
export const adminKeysGet = <ThrowOnError extends boolean = false>(options: Options<AdminKeysGetData, ThrowOnError>): RequestResult<AdminKeysGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminKeysGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/keys/{id}',
    ...options
});

/**
 * Change a key's name, limits, default namespace or read-only state
 *
 * Rate class: `admin`.
 */
export const adminKeysChange = <ThrowOnError extends boolean = false>(options: Options<AdminKeysChangeData, ThrowOnError>): RequestResult<AdminKeysChangeResponses, unknown, ThrowOnError> => (options.client ?? client).patch<AdminKeysChangeResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/keys/{id}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Make a new secret with a key's rights
 *
 * Rate class: `admin`.
 */
export const adminKeysRotate = <ThrowOnError extends boolean = false>(options: Options<AdminKeysRotateData, ThrowOnError>): RequestResult<AdminKeysRotateResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminKeysRotateResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/keys/{id}/rotate',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List an organization's integrations
 *
 * Rate class: `admin`.
 */
export const adminIntegrationsList = <ThrowOnError extends boolean = false>(options: Options<AdminIntegrationsListData, ThrowOnError>): RequestResult<AdminIntegrationsListResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminIntegrationsListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/integrations',
    ...options
});

/**
 * Make an integration
 *
 * Rate class: `admin`.
 */
export const adminIntegrationsCreate = <ThrowOnError extends boolean = false>(options: Options<AdminIntegrationsCreateData, ThrowOnError>): RequestResult<AdminIntegrationsCreateResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminIntegrationsCreateResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/integrations',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Read an integration
 *
 * Rate class: `admin`.
 */
export const adminIntegrationsGet = <ThrowOnError extends boolean = false>(options: Options<AdminIntegrationsGetData, ThrowOnError>): RequestResult<AdminIntegrationsGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminIntegrationsGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/integrations/{integration}',
    ...options
});

/**
 * Change an integration's name or quotas
 *
 * Rate class: `admin`.
 */
export const adminIntegrationsChange = <ThrowOnError extends boolean = false>(options: Options<AdminIntegrationsChangeData, ThrowOnError>): RequestResult<AdminIntegrationsChangeResponses, unknown, ThrowOnError> => (options.client ?? client).patch<AdminIntegrationsChangeResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/integrations/{integration}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List an integration's keys
 *
 * Rate class: `admin`.
 */
export const adminIntegrationsKeysList = <ThrowOnError extends boolean = false>(options: Options<AdminIntegrationsKeysListData, ThrowOnError>): RequestResult<AdminIntegrationsKeysListResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminIntegrationsKeysListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/integrations/{integration}/keys',
    ...options
});

/**
 * Make a key of an integration; its secret is in this answer alone
 *
 * Rate class: `admin`.
 */
export const adminIntegrationsKeysCreate = <ThrowOnError extends boolean = false>(options: Options<AdminIntegrationsKeysCreateData, ThrowOnError>): RequestResult<AdminIntegrationsKeysCreateResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminIntegrationsKeysCreateResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/integrations/{integration}/keys',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List namespaces, and whether their vectors are of the configured models
 *
 * Rate class: `admin`.
 */
export const adminNamespacesList = <ThrowOnError extends boolean = false>(options: Options<AdminNamespacesListData, ThrowOnError>): RequestResult<AdminNamespacesListResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminNamespacesListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/namespaces',
    ...options
});

/**
 * Discard what is kept of a namespace since it was reindexed, or what is held
 *
 * Rate class: `admin`.
 */
export const adminNamespacesDiscard = <ThrowOnError extends boolean = false>(options: Options<AdminNamespacesDiscardData, ThrowOnError>): RequestResult<AdminNamespacesDiscardResponses, unknown, ThrowOnError> => (options.client ?? client).delete<AdminNamespacesDiscardResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/namespaces/{namespace}/reindex',
    ...options
});

/**
 * Say how far the reindexing of a namespace is
 *
 * Rate class: `admin`.
 */
export const adminNamespacesReindexing = <ThrowOnError extends boolean = false>(options: Options<AdminNamespacesReindexingData, ThrowOnError>): RequestResult<AdminNamespacesReindexingResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminNamespacesReindexingResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/namespaces/{namespace}/reindex',
    ...options
});

/**
 * Recompute a namespace's vectors with the configured models
 *
 * 202 while it goes on in the background; GET says how far it is. A second generation of the namespace is built beside the one that is served, both are compared by the same queries, and then the new one is served in its place; queries and writes go on throughout if the previous model is loaded (roles.previous). The replaced generation is kept for `back` until it is discarded. A namespace whose vectors are already of the configured models is left alone unless `force` is true.
 *
 * Rate class: `admin`.
 */
export const adminNamespacesReindex = <ThrowOnError extends boolean = false>(options: Options<AdminNamespacesReindexData, ThrowOnError>): RequestResult<AdminNamespacesReindexResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminNamespacesReindexResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/namespaces/{namespace}/reindex',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Export a namespace as NDJSON with hashes
 *
 * The format that `mneme export` writes, so that `mneme import` and the import route take it: documents with metadata, times, chunks and vectors, read from one snapshot. Every line has a hash and a running hash. Only what ends with a trailer line is whole: an export that fails on its way ends with an error line, or with none, and the connection is cut.
 *
 * Rate class: `admin`.
 */
export const adminNamespacesExport = <ThrowOnError extends boolean = false>(options: Options<AdminNamespacesExportData, ThrowOnError>): RequestResult<AdminNamespacesExportResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminNamespacesExportResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/namespaces/{namespace}/export',
    ...options
});

/**
 * Import a data set of one namespace
 *
 * Takes what the export route or `mneme export --namespace` wrote, compressed with gzip or not, under any name. It is checked to its end before anything is stored: what was cut off, altered, added or left out is refused by its line. The namespace is made when there is none. Vectors are taken over where the namespace's models made them, and are computed again otherwise. 200 means that all documents are durable and searchable. Documents are stored in batches: an import that fails on its way says how many were stored, and repeating it goes on from there. A line may have up to 32 MiB, a data set the 2 GiB of `limits.import_mb`, unless that says otherwise. An organization imports one at a time; another answers 503.
 *
 * Rate class: `admin`.
 */
export const adminNamespacesImport = <ThrowOnError extends boolean = false>(options: Options<AdminNamespacesImportData, ThrowOnError>): RequestResult<AdminNamespacesImportResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminNamespacesImportResponses, unknown, ThrowOnError>({
    bodySerializer: null,
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/namespaces/{namespace}/import',
    ...options,
    headers: {
        'Content-Type': 'application/x-ndjson',
        ...options.headers
    }
});

/**
 * List end users with what is kept of them
 *
 * Rate class: `admin`.
 */
export const adminEndUsersList = <ThrowOnError extends boolean = false>(options: Options<AdminEndUsersListData, ThrowOnError>): RequestResult<AdminEndUsersListResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminEndUsersListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/end_users',
    ...options
});

/**
 * Export an end user's memories, records and receipts as NDJSON
 *
 * One JSON object a line, its kind in `type`: end_user first, then memory, record and receipt, and end last, with the counts. An answer without an end line was cut short.
 *
 * Rate class: `admin`.
 */
export const adminEndUsersExport = <ThrowOnError extends boolean = false>(options: Options<AdminEndUsersExportData, ThrowOnError>): RequestResult<AdminEndUsersExportResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminEndUsersExportResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/end_users/{id}/export',
    ...options
});

/**
 * Erase an end user for good and answer the certificate
 *
 * The same as DELETE /api/v1/users/{endUserId}. Safe to repeat: an end user who is not there answers zeros.
 *
 * Rate class: `admin`.
 */
export const adminEndUsersErase = <ThrowOnError extends boolean = false>(options: Options<AdminEndUsersEraseData, ThrowOnError>): RequestResult<AdminEndUsersEraseResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminEndUsersEraseResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/end_users/{id}/erase',
    ...options
});

/**
 * Say how far the reindexing of an end user's memories is
 *
 * Rate class: `admin`.
 */
export const adminEndUsersReindexing = <ThrowOnError extends boolean = false>(options: Options<AdminEndUsersReindexingData, ThrowOnError>): RequestResult<AdminEndUsersReindexingResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminEndUsersReindexingResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/end_users/{id}/reindex',
    ...options
});

/**
 * Recompute the vectors of an end user's memories with the configured models
 *
 * As for a namespace.
 *
 * Rate class: `admin`.
 */
export const adminEndUsersReindex = <ThrowOnError extends boolean = false>(options: Options<AdminEndUsersReindexData, ThrowOnError>): RequestResult<AdminEndUsersReindexResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminEndUsersReindexResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/end_users/{id}/reindex',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List background jobs, newest first
 *
 * Rate class: `admin`.
 */
export const adminJobsList = <ThrowOnError extends boolean = false>(options?: Options<AdminJobsListData, ThrowOnError>): RequestResult<AdminJobsListResponses, unknown, ThrowOnError> => (options?.client ?? client).get<AdminJobsListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/jobs',
    ...options
});

/**
 * Read how far a job is
 *
 * Rate class: `admin`.
 */
export const adminJobsGet = <ThrowOnError extends boolean = false>(options: Options<AdminJobsGetData, ThrowOnError>): RequestResult<AdminJobsGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminJobsGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/jobs/{job}',
    ...options
});

/**
 * End a job early
 *
 * A queued job ends at once, a running one within seconds; `cancelling` is true until then. What it has done by then stays done. Safe to repeat. A job that has ended otherwise, or cannot be cancelled, answers 409.
 *
 * Rate class: `admin`.
 */
export const adminJobsCancel = <ThrowOnError extends boolean = false>(options: Options<AdminJobsCancelData, ThrowOnError>): RequestResult<AdminJobsCancelResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminJobsCancelResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/jobs/{job}/cancel',
    ...options
});

/**
 * Read the server's configuration
 *
 * The same as `mneme config show` prints: secrets are redacted. It is that of the start, and of the server that answers. For keys of all organizations.
 *
 * Rate class: `admin`.
 */
export const adminSettingsGet = <ThrowOnError extends boolean = false>(options?: Options<AdminSettingsGetData, ThrowOnError>): RequestResult<AdminSettingsGetResponses, unknown, ThrowOnError> => (options?.client ?? client).get<AdminSettingsGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/settings',
    ...options
});

/**
 * List the members of an organization
 *
 * Rate class: `admin`.
 */
export const adminMembersList = <ThrowOnError extends boolean = false>(options: Options<AdminMembersListData, ThrowOnError>): RequestResult<AdminMembersListResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminMembersListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/members',
    ...options
});

/**
 * Invite a person; the code is in this answer alone
 *
 * For owners, and admin keys. Nothing is sent: pass the link on. It is good once, for seven days, to choose a password.
 *
 * Rate class: `admin`.
 */
export const adminMembersInvite = <ThrowOnError extends boolean = false>(options: Options<AdminMembersInviteData, ThrowOnError>): RequestResult<AdminMembersInviteResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminMembersInviteResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/members',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Remove a member, whose sessions end at once
 *
 * For owners, and admin keys. The last owner stays (409). Safe to repeat. Keys that the member made go on working.
 *
 * Rate class: `admin`.
 */
export const adminMembersRemove = <ThrowOnError extends boolean = false>(options: Options<AdminMembersRemoveData, ThrowOnError>): RequestResult<AdminMembersRemoveResponses, unknown, ThrowOnError> => (options.client ?? client).delete<AdminMembersRemoveResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/members/{member}',
    ...options
});

/**
 * Read a member
 *
 * Rate class: `admin`.
 */
export const adminMembersGet = <ThrowOnError extends boolean = false>(options: Options<AdminMembersGetData, ThrowOnError>): RequestResult<AdminMembersGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminMembersGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/members/{member}',
    ...options
});

/**
 * Give a member another role, take signing in from one, or unbind an account
 *
 * For owners, and admin keys. A role holds from the member's next call on. One who is disabled is out at once and cannot sign in, until that is taken back. The last owner stays one (409). With has_account false the account at the identity provider is unbound, so that another one with the address can be.
 *
 * Rate class: `admin`.
 */
export const adminMembersChange = <ThrowOnError extends boolean = false>(options: Options<AdminMembersChangeData, ThrowOnError>): RequestResult<AdminMembersChangeResponses, unknown, ThrowOnError> => (options.client ?? client).patch<AdminMembersChangeResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/members/{member}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Make another invitation; the code is in this answer alone
 *
 * For owners, and admin keys. It takes the place of the one before, and lets a member who has forgotten the password choose another one.
 *
 * Rate class: `admin`.
 */
export const adminMembersInviteAgain = <ThrowOnError extends boolean = false>(options: Options<AdminMembersInviteAgainData, ThrowOnError>): RequestResult<AdminMembersInviteAgainResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminMembersInviteAgainResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/members/{member}/invitation',
    ...options
});

/**
 * List what was done, newest first
 *
 * What the records cover is configured (`audit.level`). They hold names of fields, ids and names of namespaces: no text, no value and no secret. An end user stands in them as a keyed hash. A key of one organization sees that one's records. What was done before the call is in the answer.
 *
 * Rate class: `admin`.
 */
export const adminAuditList = <ThrowOnError extends boolean = false>(options?: Options<AdminAuditListData, ThrowOnError>): RequestResult<AdminAuditListResponses, unknown, ThrowOnError> => (options?.client ?? client).get<AdminAuditListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/audit',
    ...options
});

/**
 * Export what was done as NDJSON, oldest first
 *
 * One record a line, as in the list.
 *
 * Rate class: `admin`.
 */
export const adminAuditExport = <ThrowOnError extends boolean = false>(options?: Options<AdminAuditExportData, ThrowOnError>): RequestResult<AdminAuditExportResponses, unknown, ThrowOnError> => (options?.client ?? client).get<AdminAuditExportResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/audit.ndjson',
    ...options
});

/**
 * Export what was done as CSV, oldest first
 *
 * Comma-separated values (RFC 4180) with a line of names first. Names of fields are separated by spaces.
 *
 * Rate class: `admin`.
 */
export const adminAuditExportCsv = <ThrowOnError extends boolean = false>(options?: Options<AdminAuditExportCsvData, ThrowOnError>): RequestResult<AdminAuditExportCsvResponses, unknown, ThrowOnError> => (options?.client ?? client).get<AdminAuditExportCsvResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/audit.csv',
    ...options
});

/**
 * Verify that no record was removed, changed or put in
 *
 * Each record holds the hash of the one before; all are read. Who can write to the database could make a new log with hashes that fit: keep `last` and `hash` of an answer elsewhere, and give them to a later call as `known`. For keys of all organizations.
 *
 * Rate class: `admin`.
 */
export const adminAuditVerify = <ThrowOnError extends boolean = false>(options?: Options<AdminAuditVerifyData, ThrowOnError>): RequestResult<AdminAuditVerifyResponses, unknown, ThrowOnError> => (options?.client ?? client).get<AdminAuditVerifyResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/audit/verification',
    ...options
});

/**
 * List what was done, by namespace or integration and key
 *
 * Counts are kept by the hour of UTC. What the server that answers has done until now is in them, of other servers what they did until a few seconds ago; a server that dies loses as much. A call counts as a request when it did what it was asked. A key of one organization sees that one's usage.
 *
 * Rate class: `admin`.
 */
export const adminUsageList = <ThrowOnError extends boolean = false>(options?: Options<AdminUsageListData, ThrowOnError>): RequestResult<AdminUsageListResponses, unknown, ThrowOnError> => (options?.client ?? client).get<AdminUsageListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/usage',
    ...options
});

/**
 * Export what was done as CSV
 *
 * Comma-separated values (RFC 4180) with a line of names first, in the order of the list.
 *
 * Rate class: `admin`.
 */
export const adminUsageExportCsv = <ThrowOnError extends boolean = false>(options?: Options<AdminUsageExportCsvData, ThrowOnError>): RequestResult<AdminUsageExportCsvResponses, unknown, ThrowOnError> => (options?.client ?? client).get<AdminUsageExportCsvResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/usage.csv',
    ...options
});

/**
 * List how much text is kept, by namespace and integration
 *
 * With `at` as it was at the end of that hour. It is read from what is stored within seconds of a change.
 *
 * Rate class: `admin`.
 */
export const adminUsageBytes = <ThrowOnError extends boolean = false>(options?: Options<AdminUsageBytesData, ThrowOnError>): RequestResult<AdminUsageBytesResponses, unknown, ThrowOnError> => (options?.client ?? client).get<AdminUsageBytesResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/usage/bytes',
    ...options
});

/**
 * Read an organization's quotas and what is used of them
 *
 * Rate class: `admin`.
 */
export const adminQuotasGet = <ThrowOnError extends boolean = false>(options: Options<AdminQuotasGetData, ThrowOnError>): RequestResult<AdminQuotasGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminQuotasGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/quotas',
    ...options
});

/**
 * Change an organization's quotas
 *
 * A write that adds to what is bounded and would go over it answers 403 `quota_exceeded`, which says what is used and how much the quota allows. What takes away, or adds nothing, is never refused. A change holds at once on the server that answers, and within five seconds on others. For keys of all organizations.
 *
 * Rate class: `admin`.
 */
export const adminQuotasChange = <ThrowOnError extends boolean = false>(options: Options<AdminQuotasChangeData, ThrowOnError>): RequestResult<AdminQuotasChangeResponses, unknown, ThrowOnError> => (options.client ?? client).patch<AdminQuotasChangeResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/quotas',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Score texts against a query, best first
 *
 * Rate class: `rerank`.
 */
export const rerank = <ThrowOnError extends boolean = false>(options: Options<RerankData, ThrowOnError>): RequestResult<RerankResponses, unknown, ThrowOnError> => (options.client ?? client).post<RerankResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/rerank',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Score texts in the shape that clients of Jina's and of Cohere's first API speak
 *
 * The same as POST /rerank. Jina's and Cohere's answers have their fields side by side; errors are this server's own.
 *
 * Rate class: `rerank`.
 */
export const rerankV1 = <ThrowOnError extends boolean = false>(options: Options<RerankV1Data, ThrowOnError>): RequestResult<RerankV1Responses, unknown, ThrowOnError> => (options.client ?? client).post<RerankV1Responses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/rerank',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Score texts in the shape that clients of Cohere's second API speak
 *
 * The same as POST /rerank; errors are this server's own.
 *
 * Rate class: `rerank`.
 */
export const rerankV2 = <ThrowOnError extends boolean = false>(options: Options<RerankV2Data, ThrowOnError>): RequestResult<RerankV2Responses, unknown, ThrowOnError> => (options.client ?? client).post<RerankV2Responses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v2/rerank',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the models
 *
 * Rate class: `read`.
 */
export const modelsList = <ThrowOnError extends boolean = false>(options?: Options<ModelsListData, ThrowOnError>): RequestResult<ModelsListResponses, unknown, ThrowOnError> => (options?.client ?? client).get<ModelsListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/models',
    ...options
});

/**
 * Read a model
 *
 * Rate class: `read`.
 */
export const modelsGet = <ThrowOnError extends boolean = false>(options: Options<ModelsGetData, ThrowOnError>): RequestResult<ModelsGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<ModelsGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/models/{id}',
    ...options
});

/**
 * List the kinds of sources
 *
 * With JSON Schemas of their settings and secrets, by name.
 *
 * Rate class: `admin`.
 */
export const sourceKindsList = <ThrowOnError extends boolean = false>(options?: Options<SourceKindsListData, ThrowOnError>): RequestResult<SourceKindsListResponses, unknown, ThrowOnError> => (options?.client ?? client).get<SourceKindsListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/source_kinds',
    ...options
});

/**
 * List sources
 *
 * Rate class: `admin`.
 */
export const sourcesList = <ThrowOnError extends boolean = false>(options?: Options<SourcesListData, ThrowOnError>): RequestResult<SourcesListResponses, unknown, ThrowOnError> => (options?.client ?? client).get<SourcesListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources',
    ...options
});

/**
 * Connect a source
 *
 * Settings and secrets are tried first, for 10 seconds at most: with those that cannot work nothing is stored. Its first run begins unless `start` is false.
 *
 * Rate class: `admin`.
 */
export const sourcesCreate = <ThrowOnError extends boolean = false>(options: Options<SourcesCreateData, ThrowOnError>): RequestResult<SourcesCreateResponses, unknown, ThrowOnError> => (options.client ?? client).post<SourcesCreateResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Try a source's settings
 *
 * Looks at what the settings name and lists at most 20 items. Writes nothing. With `source_id`, secrets that are left out are those of that source.
 *
 * Rate class: `admin`.
 */
export const sourcesCheck = <ThrowOnError extends boolean = false>(options: Options<SourcesCheckData, ThrowOnError>): RequestResult<SourcesCheckResponses, unknown, ThrowOnError> => (options.client ?? client).post<SourcesCheckResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/check',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Disconnect a source
 *
 * Its documents stay, as if they had been written directly, unless `documents` is delete.
 *
 * Rate class: `admin`.
 */
export const sourcesDelete = <ThrowOnError extends boolean = false>(options: Options<SourcesDeleteData, ThrowOnError>): RequestResult<SourcesDeleteResponses, unknown, ThrowOnError> => (options.client ?? client).delete<SourcesDeleteResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/{id}',
    ...options
});

/**
 * Read a source
 *
 * Rate class: `admin`.
 */
export const sourcesGet = <ThrowOnError extends boolean = false>(options: Options<SourcesGetData, ThrowOnError>): RequestResult<SourcesGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<SourcesGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/{id}',
    ...options
});

/**
 * Change a source
 *
 * What is left out stays. To disable a source cancels its run. New settings or secrets are tried as for a new source, end its run, and begin one that looks at everything again; that lifts the state error.
 *
 * Rate class: `admin`.
 */
export const sourcesUpdate = <ThrowOnError extends boolean = false>(options: Options<SourcesUpdateData, ThrowOnError>): RequestResult<SourcesUpdateResponses, unknown, ThrowOnError> => (options.client ?? client).patch<SourcesUpdateResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/{id}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Start a run
 *
 * Rate class: `admin`.
 */
export const sourcesSync = <ThrowOnError extends boolean = false>(options: Options<SourcesSyncData, ThrowOnError>): RequestResult<SourcesSyncResponses, unknown, ThrowOnError> => (options.client ?? client).post<SourcesSyncResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/{id}/sync',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Apply withheld deletions
 *
 * A new run over everything, which deletes up to `max` documents whose items are gone, and none if more are.
 *
 * Rate class: `admin`.
 */
export const sourcesApplyDeletions = <ThrowOnError extends boolean = false>(options: Options<SourcesApplyDeletionsData, ThrowOnError>): RequestResult<SourcesApplyDeletionsResponses, unknown, ThrowOnError> => (options.client ?? client).post<SourcesApplyDeletionsResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/{id}/apply_deletions',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List what is kept of a source's items
 *
 * Rate class: `admin`.
 */
export const sourcesItemsList = <ThrowOnError extends boolean = false>(options: Options<SourcesItemsListData, ThrowOnError>): RequestResult<SourcesItemsListResponses, unknown, ThrowOnError> => (options.client ?? client).get<SourcesItemsListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/{id}/items',
    ...options
});

/**
 * Bring items of a source of kind push
 *
 * One result for each item, in the order of the call: an item that cannot be written says why, and the others are durable and searchable. An item whose `version` is kept already is not looked at further.
 *
 * Rate class: `write`.
 */
export const sourcesItemsPush = <ThrowOnError extends boolean = false>(options: Options<SourcesItemsPushData, ThrowOnError>): RequestResult<SourcesItemsPushResponses, unknown, ThrowOnError> => (options.client ?? client).post<SourcesItemsPushResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/{id}/items',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List a source's runs
 *
 * Rate class: `admin`.
 */
export const sourcesRunsList = <ThrowOnError extends boolean = false>(options: Options<SourcesRunsListData, ThrowOnError>): RequestResult<SourcesRunsListResponses, unknown, ThrowOnError> => (options.client ?? client).get<SourcesRunsListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/{id}/runs',
    ...options
});

/**
 * Begin to bring everything that a source of kind push has
 *
 * A run that is under way is cancelled. One that brings nothing for an hour is interrupted.
 *
 * Rate class: `admin`.
 */
export const sourcesRunsBegin = <ThrowOnError extends boolean = false>(options: Options<SourcesRunsBeginData, ThrowOnError>): RequestResult<SourcesRunsBeginResponses, unknown, ThrowOnError> => (options.client ?? client).post<SourcesRunsBeginResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/{id}/runs',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Read a run
 *
 * Rate class: `admin`.
 */
export const sourcesRunsGet = <ThrowOnError extends boolean = false>(options: Options<SourcesRunsGetData, ThrowOnError>): RequestResult<SourcesRunsGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<SourcesRunsGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/{id}/runs/{run}',
    ...options
});

/**
 * List what a run did with items that did not stay as they were
 *
 * Rate class: `admin`.
 */
export const sourcesRunsItems = <ThrowOnError extends boolean = false>(options: Options<SourcesRunsItemsData, ThrowOnError>): RequestResult<SourcesRunsItemsResponses, unknown, ThrowOnError> => (options.client ?? client).get<SourcesRunsItemsResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/{id}/runs/{run}/items',
    ...options
});

/**
 * Cancel a run
 *
 * Rate class: `admin`.
 */
export const sourcesRunsCancel = <ThrowOnError extends boolean = false>(options: Options<SourcesRunsCancelData, ThrowOnError>): RequestResult<SourcesRunsCancelResponses, unknown, ThrowOnError> => (options.client ?? client).post<SourcesRunsCancelResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/{id}/runs/{run}/cancel',
    ...options
});

/**
 * Try a run's failed items again
 *
 * A new run that lists nothing and tries those items that have not been read since.
 *
 * Rate class: `admin`.
 */
export const sourcesRunsRetryFailed = <ThrowOnError extends boolean = false>(options: Options<SourcesRunsRetryFailedData, ThrowOnError>): RequestResult<SourcesRunsRetryFailedResponses, unknown, ThrowOnError> => (options.client ?? client).post<SourcesRunsRetryFailedResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/{id}/runs/{run}/retry_failed',
    ...options
});

/**
 * End a run of a source of kind push
 *
 * With `snapshot` what was not brought since it began is gone.
 *
 * Rate class: `admin`.
 */
export const sourcesRunsComplete = <ThrowOnError extends boolean = false>(options: Options<SourcesRunsCompleteData, ThrowOnError>): RequestResult<SourcesRunsCompleteResponses, unknown, ThrowOnError> => (options.client ?? client).post<SourcesRunsCompleteResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/sources/{id}/runs/{run}/complete',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the kinds of events
 *
 * Rate class: `read`.
 */
export const eventKindsList = <ThrowOnError extends boolean = false>(options?: Options<EventKindsListData, ThrowOnError>): RequestResult<EventKindsListResponses, unknown, ThrowOnError> => (options?.client ?? client).get<EventKindsListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/event_kinds',
    ...options
});

/**
 * Read what has happened
 *
 * Events come in an order that a reader can rely on: anyone who goes on from `next_cursor` never misses one that is kept. With `wait` the answer waits until there is an event. A cursor holds for the kinds that it was made with. Keys limited to a namespace see what concerns it.
 *
 * Rate class: `read`.
 */
export const eventsList = <ThrowOnError extends boolean = false>(options?: Options<EventsListData, ThrowOnError>): RequestResult<EventsListResponses, unknown, ThrowOnError> => (options?.client ?? client).get<EventsListResponses, unknown, ThrowOnError>({
    querySerializer: { parameters: { kinds: { array: { explode: false } } } },
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/events',
    ...options
});

/**
 * Read an event with its deliveries
 *
 * Rate class: `read`.
 */
export const eventsGet = <ThrowOnError extends boolean = false>(options: Options<EventsGetData, ThrowOnError>): RequestResult<EventsGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<EventsGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/events/{id}',
    ...options
});

/**
 * Read what has happened in an organization
 *
 * As GET /events, with the events of memories, end users and keys.
 *
 * Rate class: `admin`.
 */
export const adminEventsList = <ThrowOnError extends boolean = false>(options: Options<AdminEventsListData, ThrowOnError>): RequestResult<AdminEventsListResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminEventsListResponses, unknown, ThrowOnError>({
    querySerializer: { parameters: { kinds: { array: { explode: false } } } },
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/events',
    ...options
});

/**
 * Read an event of an organization
 *
 * Rate class: `admin`.
 */
export const adminEventsGet = <ThrowOnError extends boolean = false>(options: Options<AdminEventsGetData, ThrowOnError>): RequestResult<AdminEventsGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminEventsGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/events/{id}',
    ...options
});

/**
 * List webhooks
 *
 * Rate class: `admin`.
 */
export const webhooksList = <ThrowOnError extends boolean = false>(options?: Options<WebhooksListData, ThrowOnError>): RequestResult<WebhooksListResponses, unknown, ThrowOnError> => (options?.client ?? client).get<WebhooksListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/webhooks',
    ...options
});

/**
 * Make a webhook
 *
 * From now on the organization's events are recorded and sent to the URL, signed as Standard Webhooks 1.0 says. The secret is shown this once. An organization has 20 webhooks at most. Events of memories, end users, keys and quotas are for admin keys, and so are webhooks that get them.
 *
 * Rate class: `admin`.
 */
export const webhooksCreate = <ThrowOnError extends boolean = false>(options: Options<WebhooksCreateData, ThrowOnError>): RequestResult<WebhooksCreateResponses, unknown, ThrowOnError> => (options.client ?? client).post<WebhooksCreateResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/webhooks',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Delete a webhook
 *
 * With its deliveries. To repeat it is no error.
 *
 * Rate class: `admin`.
 */
export const webhooksDelete = <ThrowOnError extends boolean = false>(options: Options<WebhooksDeleteData, ThrowOnError>): RequestResult<WebhooksDeleteResponses, unknown, ThrowOnError> => (options.client ?? client).delete<WebhooksDeleteResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/webhooks/{id}',
    ...options
});

/**
 * Read a webhook
 *
 * Rate class: `admin`.
 */
export const webhooksGet = <ThrowOnError extends boolean = false>(options: Options<WebhooksGetData, ThrowOnError>): RequestResult<WebhooksGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<WebhooksGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/webhooks/{id}',
    ...options
});

/**
 * Change a webhook
 *
 * To disable it drops what waits to be sent. To enable it starts afresh; recover brings what it has not got in between.
 *
 * Rate class: `admin`.
 */
export const webhooksChange = <ThrowOnError extends boolean = false>(options: Options<WebhooksChangeData, ThrowOnError>): RequestResult<WebhooksChangeResponses, unknown, ThrowOnError> => (options.client ?? client).patch<WebhooksChangeResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/webhooks/{id}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Send a test to a webhook
 *
 * Sends a signed event `webhook.test` at once, also where the webhook is disabled, and answers what came back. It counts for nothing.
 *
 * Rate class: `admin`.
 */
export const webhooksTest = <ThrowOnError extends boolean = false>(options: Options<WebhooksTestData, ThrowOnError>): RequestResult<WebhooksTestResponses, unknown, ThrowOnError> => (options.client ?? client).post<WebhooksTestResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/webhooks/{id}/test',
    ...options
});

/**
 * Replace the secret of a webhook
 *
 * The new secret is shown this once. The one before signs along for `overlap`, so that receivers may be told at their leisure; while two sign, another rotation answers 409 unless it is forced.
 *
 * Rate class: `admin`.
 */
export const webhooksRotate = <ThrowOnError extends boolean = false>(options: Options<WebhooksRotateData, ThrowOnError>): RequestResult<WebhooksRotateResponses, unknown, ThrowOnError> => (options.client ?? client).post<WebhooksRotateResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/webhooks/{id}/rotate',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the deliveries of a webhook
 *
 * Rate class: `admin`.
 */
export const webhooksDeliveriesList = <ThrowOnError extends boolean = false>(options: Options<WebhooksDeliveriesListData, ThrowOnError>): RequestResult<WebhooksDeliveriesListResponses, unknown, ThrowOnError> => (options.client ?? client).get<WebhooksDeliveriesListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/webhooks/{id}/deliveries',
    ...options
});

/**
 * Read a delivery with its attempts
 *
 * Rate class: `admin`.
 */
export const webhooksDeliveriesGet = <ThrowOnError extends boolean = false>(options: Options<WebhooksDeliveriesGetData, ThrowOnError>): RequestResult<WebhooksDeliveriesGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<WebhooksDeliveriesGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/webhooks/{id}/deliveries/{delivery_id}',
    ...options
});

/**
 * Send an event again
 *
 * One that has ended is sent again by a new delivery; one that is pending is tried now.
 *
 * Rate class: `admin`.
 */
export const webhooksDeliveriesRedeliver = <ThrowOnError extends boolean = false>(options: Options<WebhooksDeliveriesRedeliverData, ThrowOnError>): RequestResult<WebhooksDeliveriesRedeliverResponses, unknown, ThrowOnError> => (options.client ?? client).post<WebhooksDeliveriesRedeliverResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/webhooks/{id}/deliveries/{delivery_id}/redeliver',
    ...options
});

/**
 * Send what a webhook has not taken
 *
 * Makes deliveries of those events of a time that no delivery has brought or is about to bring, the oldest first. To repeat it makes none twice.
 *
 * Rate class: `admin`.
 */
export const webhooksRecover = <ThrowOnError extends boolean = false>(options: Options<WebhooksRecoverData, ThrowOnError>): RequestResult<WebhooksRecoverResponses, unknown, ThrowOnError> => (options.client ?? client).post<WebhooksRecoverResponses, unknown, ThrowOnError>({
    security: [{
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/webhooks/{id}/recover',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List webhooks of an organization
 *
 * Rate class: `admin`.
 */
export const adminWebhooksList = <ThrowOnError extends boolean = false>(options: Options<AdminWebhooksListData, ThrowOnError>): RequestResult<AdminWebhooksListResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminWebhooksListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/webhooks',
    ...options
});

/**
 * Make a webhook of an organization
 *
 * From now on the organization's events are recorded and sent to the URL, signed as Standard Webhooks 1.0 says. The secret is shown this once. An organization has 20 webhooks at most. Events of memories, end users, keys and quotas are for admin keys, and so are webhooks that get them.
 *
 * Rate class: `admin`.
 */
export const adminWebhooksCreate = <ThrowOnError extends boolean = false>(options: Options<AdminWebhooksCreateData, ThrowOnError>): RequestResult<AdminWebhooksCreateResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminWebhooksCreateResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/webhooks',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Delete a webhook of an organization
 *
 * With its deliveries. To repeat it is no error.
 *
 * Rate class: `admin`.
 */
export const adminWebhooksDelete = <ThrowOnError extends boolean = false>(options: Options<AdminWebhooksDeleteData, ThrowOnError>): RequestResult<AdminWebhooksDeleteResponses, unknown, ThrowOnError> => (options.client ?? client).delete<AdminWebhooksDeleteResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/webhooks/{id}',
    ...options
});

/**
 * Read a webhook of an organization
 *
 * Rate class: `admin`.
 */
export const adminWebhooksGet = <ThrowOnError extends boolean = false>(options: Options<AdminWebhooksGetData, ThrowOnError>): RequestResult<AdminWebhooksGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminWebhooksGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/webhooks/{id}',
    ...options
});

/**
 * Change a webhook of an organization
 *
 * To disable it drops what waits to be sent. To enable it starts afresh; recover brings what it has not got in between.
 *
 * Rate class: `admin`.
 */
export const adminWebhooksChange = <ThrowOnError extends boolean = false>(options: Options<AdminWebhooksChangeData, ThrowOnError>): RequestResult<AdminWebhooksChangeResponses, unknown, ThrowOnError> => (options.client ?? client).patch<AdminWebhooksChangeResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/webhooks/{id}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Send a test to a webhook of an organization
 *
 * Sends a signed event `webhook.test` at once, also where the webhook is disabled, and answers what came back. It counts for nothing.
 *
 * Rate class: `admin`.
 */
export const adminWebhooksTest = <ThrowOnError extends boolean = false>(options: Options<AdminWebhooksTestData, ThrowOnError>): RequestResult<AdminWebhooksTestResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminWebhooksTestResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/webhooks/{id}/test',
    ...options
});

/**
 * Replace the secret of a webhook of an organization
 *
 * The new secret is shown this once. The one before signs along for `overlap`, so that receivers may be told at their leisure; while two sign, another rotation answers 409 unless it is forced.
 *
 * Rate class: `admin`.
 */
export const adminWebhooksRotate = <ThrowOnError extends boolean = false>(options: Options<AdminWebhooksRotateData, ThrowOnError>): RequestResult<AdminWebhooksRotateResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminWebhooksRotateResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/webhooks/{id}/rotate',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the deliveries of a webhook of an organization
 *
 * Rate class: `admin`.
 */
export const adminWebhooksDeliveriesList = <ThrowOnError extends boolean = false>(options: Options<AdminWebhooksDeliveriesListData, ThrowOnError>): RequestResult<AdminWebhooksDeliveriesListResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminWebhooksDeliveriesListResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/webhooks/{id}/deliveries',
    ...options
});

/**
 * Read a delivery with its attempts of an organization
 *
 * Rate class: `admin`.
 */
export const adminWebhooksDeliveriesGet = <ThrowOnError extends boolean = false>(options: Options<AdminWebhooksDeliveriesGetData, ThrowOnError>): RequestResult<AdminWebhooksDeliveriesGetResponses, unknown, ThrowOnError> => (options.client ?? client).get<AdminWebhooksDeliveriesGetResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/webhooks/{id}/deliveries/{delivery_id}',
    ...options
});

/**
 * Send an event again of an organization
 *
 * One that has ended is sent again by a new delivery; one that is pending is tried now.
 *
 * Rate class: `admin`.
 */
export const adminWebhooksDeliveriesRedeliver = <ThrowOnError extends boolean = false>(options: Options<AdminWebhooksDeliveriesRedeliverData, ThrowOnError>): RequestResult<AdminWebhooksDeliveriesRedeliverResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminWebhooksDeliveriesRedeliverResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/webhooks/{id}/deliveries/{delivery_id}/redeliver',
    ...options
});

/**
 * Send what a webhook has not taken of an organization
 *
 * Makes deliveries of those events of a time that no delivery has brought or is about to bring, the oldest first. To repeat it makes none twice.
 *
 * Rate class: `admin`.
 */
export const adminWebhooksRecover = <ThrowOnError extends boolean = false>(options: Options<AdminWebhooksRecoverData, ThrowOnError>): RequestResult<AdminWebhooksRecoverResponses, unknown, ThrowOnError> => (options.client ?? client).post<AdminWebhooksRecoverResponses, unknown, ThrowOnError>({
    security: [{
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/admin/v1/organizations/{org}/webhooks/{id}/recover',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Is the process serving
 *
 * Says that the process answers, and nothing of what is behind it. Needs no key and counts against no limit.
 */
export const health = <ThrowOnError extends boolean = false>(options?: Options<HealthData, ThrowOnError>): RequestResult<HealthResponses, unknown, ThrowOnError> => (options?.client ?? client).get<HealthResponses, unknown, ThrowOnError>({ url: '/health', ...options });

/**
 * Does search work end to end
 *
 * Searches a small built-in corpus through every part of the search, and writes nothing. The outcome is kept for 5 seconds. Needs no key; with any valid key the answer has `checks` and `version`.
 */
export const healthDeep = <ThrowOnError extends boolean = false>(options?: Options<HealthDeepData, ThrowOnError>): RequestResult<HealthDeepResponses, unknown, ThrowOnError> => (options?.client ?? client).get<HealthDeepResponses, unknown, ThrowOnError>({
    security: [
        {
            key: 'serviceKey',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'integrationKey',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'adminKey',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/health/deep',
    ...options
});
