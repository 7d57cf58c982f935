// The operations, by what they are about. Bodies and answers have the names of the API's reference.

import * as api from "./api/index.js";
import { type CallOptions, type FollowOptions, Pager, type Query, Resource } from "./core.js";
import { type FileInput, form } from "./files.js";
import { MissedEventsError, OperationFailedError } from "./errors.js";

/** Namespaces, and the search in them. */
export class Namespaces extends Resource {
  /** Create a namespace. */
  create(body: api.CreateNamespace, options?: CallOptions): Promise<api.NamespaceCreated> {
    return this.core.call(true, options, (o) => api.namespacesCreate({ ...o, body }));
  }

  /** List the namespaces that hold documents. */
  list(query: Query<api.NamespacesListData> = {}, options?: CallOptions): Pager<api.Namespace, api.NamespacePage> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.namespacesList({ ...o, query: { ...query, ...cursor } })),
      (page) => page.namespaces,
      (page) => page.next_cursor,
    );
  }

  /** Read a namespace. */
  get(namespace: string, options?: CallOptions): Promise<api.Namespace> {
    return this.core.call(true, options, (o) => api.namespacesGet({ ...o, path: { namespace } }));
  }

  /** Delete a namespace and every document in it. */
  delete(namespace: string, options?: CallOptions): Promise<api.NamespaceDeleted> {
    return this.core.call(true, options, (o) => api.namespacesDelete({ ...o, path: { namespace } }));
  }

  /** Find the chunks that answer a query. */
  query(namespace: string, body: api.QueryRequest, options?: CallOptions): Promise<api.QueryResult> {
    return this.core.call(true, options, (o) => api.namespacesQuery({ ...o, path: { namespace }, body }));
  }
}

/** Documents of a namespace. */
export class Documents extends Resource {
  /** List documents. */
  list(namespace: string, query: Query<api.DocumentsListData> = {}, options?: CallOptions): Pager<api.DocumentHead, api.DocumentPage> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.documentsList({ ...o, path: { namespace }, query: { ...query, ...cursor } })),
      (page) => page.documents,
      (page) => page.next_cursor,
    );
  }

  /** Read a document. */
  get(namespace: string, id: string, query: Query<api.DocumentsGetData> = {}, options?: CallOptions): Promise<api.Document> {
    return this.core.call(true, options, (o) => api.documentsGet({ ...o, path: { namespace, id }, query }));
  }

  /** Delete documents by ids or by filter. */
  delete(namespace: string, body: api.DeleteDocuments, options?: CallOptions): Promise<api.DocumentDeletedSome> {
    return this.core.call(true, options, (o) => api.documentsDelete({ ...o, path: { namespace }, body }));
  }

  /** Write documents; the answer comes when they are on disk and found by the next query. */
  write(namespace: string, body: api.WriteDocuments, options?: CallOptions): Promise<api.DocumentWritten> {
    return this.core.call(true, options, (o) => api.documentsWrite({ ...o, path: { namespace }, body })) as Promise<api.DocumentWritten>;
  }

  /**
   * Write documents; the answer comes when they are on disk. Where `searchable` is false, an index takes them in the
   * background; a query that comes first waits for it.
   */
  writeSoon(namespace: string, body: api.WriteDocuments, options?: CallOptions): Promise<api.DocumentWritten> {
    return this.core.call(true, options, (o) =>
      api.documentsWrite({ ...o, path: { namespace }, body, headers: { ...o.headers, Prefer: "searchable=soon" } }),
    ) as Promise<api.DocumentWritten>;
  }

  /** Leave a write to the server; wait waits for it. */
  writeLater(namespace: string, body: api.WriteDocuments, options?: CallOptions): Promise<api.DocumentOperation> {
    return this.core.call(true, options, (o) =>
      api.documentsWrite({ ...o, path: { namespace }, body, headers: { ...o.headers, Prefer: "respond-async" } }),
    ) as Promise<api.DocumentOperation>;
  }

  /** How far a write is that was left to the server. */
  operation(namespace: string, operation: string, options?: CallOptions): Promise<api.DocumentOperation> {
    return this.core.call(true, options, (o) => api.operationsGet({ ...o, path: { namespace, operation } }));
  }

  /** The operation when it has succeeded; OperationFailedError where it has failed. */
  async wait(
    namespace: string,
    operation: string,
    options?: CallOptions & { everyMs?: number },
  ): Promise<api.DocumentOperation> {
    for (;;) {
      const now = await this.operation(namespace, operation, options);
      if (now.status === "failed") throw new OperationFailedError(now.error?.code ?? "", now.error?.message ?? "");
      if (now.status === "succeeded") return now;
      await this.core.sleep(options?.everyMs ?? 500, options?.signal);
    }
  }
}

/** Files whose text becomes documents. */
export class Files extends Resource {
  /** List the formats of files that are read. */
  formats(options?: CallOptions): Promise<api.FileFormats> {
    return this.core.call(true, options, (o) => api.formatsList({ ...o }));
  }

  /** Read files and write their text as documents; with dryRun only show what would be written. */
  upload(
    namespace: string,
    files: FileInput | FileInput[],
    options?: CallOptions & { metadata?: api.Metadata; dryRun?: boolean },
  ): Promise<api.FileUploaded> {
    return this.core.call(true, options, (o) =>
      api.filesUpload({ ...o, path: { namespace }, body: form(files, options?.metadata), query: { dry_run: options?.dryRun ?? false } }),
    ) as Promise<api.FileUploaded>;
  }

  /** The same, but the server writes later; documents.wait with the answer's id waits for it. */
  uploadLater(
    namespace: string,
    files: FileInput | FileInput[],
    options?: CallOptions & { metadata?: api.Metadata },
  ): Promise<api.FileAccepted> {
    return this.core.call(true, options, (o) =>
      api.filesUpload({
        ...o,
        path: { namespace },
        body: form(files, options?.metadata),
        headers: { ...o.headers, Prefer: "respond-async" },
      }),
    ) as Promise<api.FileAccepted>;
  }
}

/** Saved queries, and checks that run them. */
export class Queries extends Resource {
  /** List the saved queries of a namespace. */
  list(namespace: string, options?: CallOptions): Promise<api.CheckSavedList> {
    return this.core.call(true, options, (o) => api.queriesList({ ...o, path: { namespace } }));
  }

  /** Save a query with the documents that it should find. */
  save(namespace: string, query: string, body: api.CheckSave, options?: CallOptions): Promise<api.CheckSaved> {
    return this.core.call(true, options, (o) => api.queriesSave({ ...o, path: { namespace, query }, body }));
  }

  /** Delete a saved query. */
  delete(namespace: string, query: string, options?: CallOptions): Promise<api.CheckRemoved> {
    return this.core.call(true, options, (o) => api.queriesDelete({ ...o, path: { namespace, query } }));
  }

  /** Ask all saved queries of a namespace, and say which find what they should. */
  run(namespace: string, options?: CallOptions): Promise<api.CheckReport> {
    return this.core.call(true, options, (o) => api.queriesRun({ ...o, path: { namespace } }));
  }
}

/** End users' memories. */
export class Memory extends Resource {
  /** Search the memories of one end user. */
  search(body: api.MemoryQuery, options?: CallOptions): Promise<api.MemoryResults> {
    return this.core.call(true, options, (o) => api.memoriesSearch({ ...o, body }));
  }

  /** Save a memory. Without an idempotencyKey it gets one, so that the call is safe to repeat. */
  save(body: api.MemorySave, options?: CallOptions & { idempotencyKey?: string }): Promise<api.MemorySavedOne> {
    const key = options?.idempotencyKey ?? crypto.randomUUID();
    return this.core.call(true, options, (o) => api.memoriesSave({ ...o, body, headers: { ...o.headers, "Idempotency-Key": key } }));
  }

  /** List the memories of one end user, newest first. */
  list(query: Query<api.MemoriesListData>, options?: CallOptions): Pager<api.Memory, api.MemoryPage> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.memoriesList({ ...o, query: { ...query, ...cursor } })),
      (page) => page.memories,
      (page) => page.nextCursor,
    );
  }

  /** Save up to 100 memories of one end user. Without an idempotencyKey it gets one, so that the call is safe to repeat. */
  batch(body: api.MemoryBatch, options?: CallOptions & { idempotencyKey?: string }): Promise<api.MemorySavedBatch> {
    const key = options?.idempotencyKey ?? crypto.randomUUID();
    return this.core.call(true, options, (o) => api.memoriesBatch({ ...o, body, headers: { ...o.headers, "Idempotency-Key": key } }));
  }

  /** Remember messages of a conversation. */
  remember(body: api.MemoryRemember, options?: CallOptions): Promise<api.MemoryRemembered> {
    return this.core.call(true, options, (o) => api.memoriesRemember({ ...o, body }));
  }

  /** Make a block for a prompt of what is remembered of a message. */
  context(body: api.MemoryContextQuery, options?: CallOptions): Promise<api.MemoryContextBlock> {
    return this.core.call(true, options, (o) => api.memoriesContext({ ...o, body }));
  }

  /** Delete memories by id. */
  delete(body: api.MemoryDelete, options?: CallOptions): Promise<api.MemoryDeleted> {
    return this.core.call(true, options, (o) => api.memoriesDelete({ ...o, body }));
  }

  /** Write a version of a source-owned memory. */
  upsert(externalId: string, body: api.MemoryUpsert, options?: CallOptions & { grant?: string }): Promise<api.MemoryApplied> {
    return this.core.call(true, options, (o) => api.memoriesUpsert({ ...o, path: { externalId }, body, headers: { ...o.headers, ...(options?.grant === undefined ? {} : { "X-Mneme-Grant": options.grant }) } }));
  }

  /** Tombstone a source-owned memory. */
  tombstone(externalId: string, query: Query<api.MemoriesTombstoneData>, options?: CallOptions & { grant?: string }): Promise<api.MemoryApplied> {
    return this.core.call(true, options, (o) => api.memoriesTombstone({ ...o, path: { externalId }, query, headers: { ...o.headers, ...(options?.grant === undefined ? {} : { "X-Mneme-Grant": options.grant }) } }));
  }

  /** Read a source-owned memory's record with its latest receipt. */
  get(externalId: string, query: Query<api.MemoriesGetData>, options?: CallOptions): Promise<api.MemoryApplied> {
    return this.core.call(true, options, (o) => api.memoriesGet({ ...o, path: { externalId }, query }));
  }

  /** Check the integration. */
  status(options?: CallOptions): Promise<api.MemoryStatus> {
    return this.core.call(true, options, (o) => api.memoriesStatus({ ...o }));
  }

  /** Answer a question from the memories of one end user. */
  recall(body: api.RecallRequest, options?: CallOptions): Promise<api.RecallAnswer> {
    return this.core.call(true, options, (o) => api.memoriesRecall({ ...o, body }));
  }
}

/** What sources may write of an end user. */
export class Grants extends Resource {
  /** Let a source system write an end user's memories. */
  create(body: api.MemoryCreateGrant, options?: CallOptions): Promise<api.MemoryGranted> {
    return this.core.call(false, options, (o) => api.grantsCreate({ ...o, body }));
  }

  /** List the grants of an end user, newest first. */
  list(query: Query<api.GrantsListData>, options?: CallOptions): Promise<api.MemoryGrants> {
    return this.core.call(true, options, (o) => api.grantsList({ ...o, query }));
  }

  /** Revoke a grant. */
  revoke(id: string, options?: CallOptions): Promise<api.MemoryGranted> {
    return this.core.call(true, options, (o) => api.grantsRevoke({ ...o, path: { id } }));
  }
}

/** End users as a whole. */
export class Users extends Resource {
  /** Erase an end user for good. */
  erase(endUserId: string, options?: CallOptions): Promise<api.MemoryErasedUser> {
    return this.core.call(true, options, (o) => api.usersErase({ ...o, path: { endUserId } }));
  }
}

/** The models of the server. */
export class Models extends Resource {
  /** List the models. */
  list(query: Query<api.ModelsListData> = {}, options?: CallOptions): Promise<api.ModelList> {
    return this.core.call(true, options, (o) => api.modelsList({ ...o, query }));
  }

  /** Read a model. */
  get(id: string, options?: CallOptions): Promise<api.Model> {
    return this.core.call(true, options, (o) => api.modelsGet({ ...o, path: { id } }));
  }
}

/** Items of a source. */
export class SourceItems extends Resource {
  /** List what is kept of a source's items. */
  list(id: string, query: Query<api.SourcesItemsListData> = {}, options?: CallOptions): Pager<api.SourceItem, api.SourceItems> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.sourcesItemsList({ ...o, path: { id }, query: { ...query, ...cursor } })),
      (page) => page.items,
      (page) => page.next_cursor,
    );
  }

  /** Bring items of a source of kind push. */
  push(id: string, body: api.SourcePushItems, options?: CallOptions): Promise<api.SourcePushed> {
    return this.core.call(true, options, (o) => api.sourcesItemsPush({ ...o, path: { id }, body }));
  }
}

/** Runs of a source. */
export class SourceRuns extends Resource {
  /** List a source's runs. */
  list(id: string, query: Query<api.SourcesRunsListData> = {}, options?: CallOptions): Pager<api.SourceRun, api.SourceRuns> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.sourcesRunsList({ ...o, path: { id }, query: { ...query, ...cursor } })),
      (page) => page.runs,
      (page) => page.next_cursor,
    );
  }

  /** Begin to bring everything that a source of kind push has. */
  begin(id: string, body: api.SourceBeginRun = {}, options?: CallOptions): Promise<api.SourceBegun> {
    return this.core.call(false, options, (o) => api.sourcesRunsBegin({ ...o, path: { id }, body }));
  }

  /** Read a run. */
  get(id: string, run: string, options?: CallOptions): Promise<api.SourceRun> {
    return this.core.call(true, options, (o) => api.sourcesRunsGet({ ...o, path: { id, run } }));
  }

  /** List what a run did with items that did not stay as they were. */
  items(id: string, run: string, query: Query<api.SourcesRunsItemsData> = {}, options?: CallOptions): Pager<api.SourceRunItem, api.SourceRunItems> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.sourcesRunsItems({ ...o, path: { id, run }, query: { ...query, ...cursor } })),
      (page) => page.items,
      (page) => page.next_cursor,
    );
  }

  /** Cancel a run. */
  cancel(id: string, run: string, options?: CallOptions): Promise<api.SourceRun> {
    return this.core.call(true, options, (o) => api.sourcesRunsCancel({ ...o, path: { id, run } }));
  }

  /** Try a run's failed items again. */
  retryFailed(id: string, run: string, options?: CallOptions): Promise<api.SourceRun> {
    return this.core.call(false, options, (o) => api.sourcesRunsRetryFailed({ ...o, path: { id, run } }));
  }

  /** End a run of a source of kind push. */
  complete(id: string, run: string, body: api.SourceCompleteRun = {}, options?: CallOptions): Promise<api.SourceRun> {
    return this.core.call(false, options, (o) => api.sourcesRunsComplete({ ...o, path: { id, run }, body }));
  }
}

/** Sources, which keep a namespace in step. */
export class Sources extends Resource {
  readonly items = new SourceItems(this.core);
  readonly runs = new SourceRuns(this.core);

  /** List the kinds of sources. */
  kinds(options?: CallOptions): Promise<api.SourceKinds> {
    return this.core.call(true, options, (o) => api.sourceKindsList({ ...o }));
  }

  /** Connect a source. */
  create(body: api.CreateSource, options?: CallOptions): Promise<api.Source> {
    return this.core.call(false, options, (o) => api.sourcesCreate({ ...o, body }));
  }

  /** List sources. */
  list(query: Query<api.SourcesListData> = {}, options?: CallOptions): Pager<api.Source, api.Sources> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.sourcesList({ ...o, query: { ...query, ...cursor } })),
      (page) => page.sources,
      (page) => page.next_cursor,
    );
  }

  /** Try a source's settings. */
  check(body: api.CheckSource, options?: CallOptions): Promise<api.SourceChecked> {
    return this.core.call(true, options, (o) => api.sourcesCheck({ ...o, body }));
  }

  /** Read a source. */
  get(id: string, options?: CallOptions): Promise<api.Source> {
    return this.core.call(true, options, (o) => api.sourcesGet({ ...o, path: { id } }));
  }

  /** Change a source. */
  update(id: string, body: api.UpdateSource, options?: CallOptions): Promise<api.Source> {
    return this.core.call(true, options, (o) => api.sourcesUpdate({ ...o, path: { id }, body }));
  }

  /** Disconnect a source. */
  delete(id: string, query: Query<api.SourcesDeleteData> = {}, options?: CallOptions): Promise<api.Source> {
    return this.core.call(true, options, (o) => api.sourcesDelete({ ...o, path: { id }, query }));
  }

  /** Start a run. */
  sync(id: string, body: api.SyncSource = {}, options?: CallOptions): Promise<api.SourceRun> {
    return this.core.call(false, options, (o) => api.sourcesSync({ ...o, path: { id }, body }));
  }

  /** Apply withheld deletions. */
  applyDeletions(id: string, body: api.SourceApplyDeletions, options?: CallOptions): Promise<api.SourceRun> {
    return this.core.call(false, options, (o) => api.sourcesApplyDeletions({ ...o, path: { id }, body }));
  }
}

/** What has happened. */
export class Events extends Resource {
  /** List the kinds of events. */
  kinds(options?: CallOptions): Promise<api.EventKindList> {
    return this.core.call(true, options, (o) => api.eventKindsList({ ...o }));
  }

  /** Read what has happened. */
  list(query: Query<api.EventsListData> = {}, options?: CallOptions): Promise<api.EventPage> {
    return this.core.call(true, options, (o) => api.eventsList({ ...o, query }));
  }

  /** Read an event with its deliveries. */
  get(id: string, options?: CallOptions): Promise<api.EventTold> {
    return this.core.call(true, options, (o) => api.eventsGet({ ...o, path: { id } }));
  }

  /**
   * Events as they happen, for ever: an answer is awaited until there is one. MissedEventsError says that
   * events behind `after` are forgotten, unless ignoreMissed.
   */
  async *follow(options: FollowOptions = {}): AsyncGenerator<api.Event> {
    const wait = options.wait ?? 30;
    for (let after = options.after ?? "latest"; ; ) {
      const query = { after, limit: 1000, wait, ...(options.kinds ? { kinds: options.kinds } : {}) } as Query<api.EventsListData>;
      const page = await this.core.call(true, this.core.longer(options, wait), (o) => api.eventsList({ ...o, query }));
      if (page.missed && !options.ignoreMissed) throw new MissedEventsError(page.next_cursor);
      yield* page.events;
      after = page.next_cursor;
    }
  }
}

/** Deliveries of a webhook. */
export class WebhookDeliveries extends Resource {
  /** List the deliveries of a webhook. */
  list(id: string, query: Query<api.WebhooksDeliveriesListData> = {}, options?: CallOptions): Pager<api.WebhookDelivery, api.WebhookDeliveries> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.webhooksDeliveriesList({ ...o, path: { id }, query: { ...query, ...cursor } })),
      (page) => page.deliveries,
      (page) => page.next_cursor,
    );
  }

  /** Read a delivery with its attempts. */
  get(id: string, deliveryId: string, options?: CallOptions): Promise<api.WebhookDelivery> {
    return this.core.call(true, options, (o) => api.webhooksDeliveriesGet({ ...o, path: { id, delivery_id: deliveryId } }));
  }

  /** Send an event again. */
  redeliver(id: string, deliveryId: string, options?: CallOptions): Promise<api.WebhookDelivery> {
    return this.core.call(false, options, (o) => api.webhooksDeliveriesRedeliver({ ...o, path: { id, delivery_id: deliveryId } }));
  }
}

/** Endpoints that events are sent to. */
export class Webhooks extends Resource {
  readonly deliveries = new WebhookDeliveries(this.core);

  /** Make a webhook. */
  create(body: api.WebhookCreate, options?: CallOptions): Promise<api.WebhookMade> {
    return this.core.call(false, options, (o) => api.webhooksCreate({ ...o, body }));
  }

  /** List webhooks. */
  list(options?: CallOptions): Promise<api.Webhooks> {
    return this.core.call(true, options, (o) => api.webhooksList({ ...o }));
  }

  /** Read a webhook. */
  get(id: string, options?: CallOptions): Promise<api.Webhook> {
    return this.core.call(true, options, (o) => api.webhooksGet({ ...o, path: { id } }));
  }

  /** Change a webhook. */
  change(id: string, body: api.WebhookChange, options?: CallOptions): Promise<api.Webhook> {
    return this.core.call(true, options, (o) => api.webhooksChange({ ...o, path: { id }, body }));
  }

  /** Delete a webhook. */
  delete(id: string, options?: CallOptions): Promise<api.WebhookDeleted> {
    return this.core.call(true, options, (o) => api.webhooksDelete({ ...o, path: { id } }));
  }

  /** Send a test to a webhook. */
  test(id: string, options?: CallOptions): Promise<api.WebhookTested> {
    return this.core.call(false, options, (o) => api.webhooksTest({ ...o, path: { id } }));
  }

  /** Replace the secret of a webhook. */
  rotate(id: string, body: api.WebhookRotate = {}, options?: CallOptions): Promise<api.WebhookMade> {
    return this.core.call(false, options, (o) => api.webhooksRotate({ ...o, path: { id }, body }));
  }

  /** Send what a webhook has not taken. */
  recover(id: string, body: api.WebhookRecover, options?: CallOptions): Promise<api.WebhookRecovered> {
    return this.core.call(true, options, (o) => api.webhooksRecover({ ...o, path: { id }, body }));
  }
}

/** Organizations. */
export class AdminOrganizations extends Resource {
  /** Make an organization. */
  create(body: api.AdminCreateOrganization, options?: CallOptions): Promise<api.AdminOrganization> {
    return this.core.call(false, options, (o) => api.adminOrganizationsCreate({ ...o, body }));
  }

  /** List organizations. */
  list(query: Query<api.AdminOrganizationsListData> = {}, options?: CallOptions): Pager<api.AdminOrganization, api.AdminOrganizations> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.adminOrganizationsList({ ...o, query: { ...query, ...cursor } })),
      (page) => page.organizations,
      (page) => page.next_cursor,
    );
  }

  /** Read an organization. */
  get(org: string, options?: CallOptions): Promise<api.AdminOrganization> {
    return this.core.call(true, options, (o) => api.adminOrganizationsGet({ ...o, path: { org } }));
  }

  /** Rename, suspend or resume an organization. */
  change(org: string, body: api.AdminChangeOrganization, options?: CallOptions): Promise<api.AdminOrganization> {
    return this.core.call(true, options, (o) => api.adminOrganizationsChange({ ...o, path: { org }, body }));
  }

  /** Delete an organization with everything in it. */
  delete(org: string, query: Query<api.AdminOrganizationsDeleteData>, options?: CallOptions): Promise<api.AdminOrganizationDeletion> {
    return this.core.call(true, options, (o) => api.adminOrganizationsDelete({ ...o, path: { org }, query }));
  }
}

/** Keys of an organization. */
export class AdminKeys extends Resource {
  /** Make a key; its secret is in this answer alone. */
  create(org: string, body: api.AdminCreateKey, options?: CallOptions): Promise<api.AdminIssuedKey> {
    return this.core.call(false, options, (o) => api.adminKeysCreate({ ...o, path: { org }, body }));
  }

  /** List an organization's keys. */
  list(org: string, query: Query<api.AdminKeysListData> = {}, options?: CallOptions): Pager<api.AdminKey, api.AdminKeys> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.adminKeysList({ ...o, path: { org }, query: { ...query, ...cursor } })),
      (page) => page.keys,
      (page) => page.next_cursor,
    );
  }

  /** Read a key's description. */
  get(org: string, id: string, options?: CallOptions): Promise<api.AdminKey> {
    return this.core.call(true, options, (o) => api.adminKeysGet({ ...o, path: { org, id } }));
  }

  /** Change a key's name, limits, default namespace or read-only state. */
  change(org: string, id: string, body: api.AdminChangeKey, options?: CallOptions): Promise<api.AdminKey> {
    return this.core.call(true, options, (o) => api.adminKeysChange({ ...o, path: { org, id }, body }));
  }

  /** Revoke a key, within a second everywhere. */
  revoke(org: string, id: string, options?: CallOptions): Promise<api.AdminRevoked> {
    return this.core.call(true, options, (o) => api.adminKeysRevoke({ ...o, path: { org, id } }));
  }

  /** Make a new secret with a key's rights. */
  rotate(org: string, id: string, body: api.AdminRotateKey = {}, options?: CallOptions): Promise<api.AdminIssuedKey> {
    return this.core.call(false, options, (o) => api.adminKeysRotate({ ...o, path: { org, id }, body }));
  }
}

/** Keys of an integration. */
export class AdminIntegrationKeys extends Resource {
  /** Make a key of an integration; its secret is in this answer alone. */
  create(org: string, integration: string, body: api.AdminCreateIntegrationKey, options?: CallOptions): Promise<api.AdminIssuedKey> {
    return this.core.call(false, options, (o) => api.adminIntegrationsKeysCreate({ ...o, path: { org, integration }, body }));
  }

  /** List an integration's keys. */
  list(org: string, integration: string, query: Query<api.AdminIntegrationsKeysListData> = {}, options?: CallOptions): Pager<api.AdminKey, api.AdminKeys> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.adminIntegrationsKeysList({ ...o, path: { org, integration }, query: { ...query, ...cursor } })),
      (page) => page.keys,
      (page) => page.next_cursor,
    );
  }
}

/** Integrations, which keep memories. */
export class AdminIntegrations extends Resource {
  readonly keys = new AdminIntegrationKeys(this.core);

  /** Make an integration. */
  create(org: string, body: api.AdminCreateIntegration, options?: CallOptions): Promise<api.AdminIntegration> {
    return this.core.call(false, options, (o) => api.adminIntegrationsCreate({ ...o, path: { org }, body }));
  }

  /** List an organization's integrations. */
  list(org: string, query: Query<api.AdminIntegrationsListData> = {}, options?: CallOptions): Pager<api.AdminIntegration, api.AdminIntegrations> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.adminIntegrationsList({ ...o, path: { org }, query: { ...query, ...cursor } })),
      (page) => page.integrations,
      (page) => page.next_cursor,
    );
  }

  /** Read an integration. */
  get(org: string, integration: string, options?: CallOptions): Promise<api.AdminIntegration> {
    return this.core.call(true, options, (o) => api.adminIntegrationsGet({ ...o, path: { org, integration } }));
  }

  /** Change an integration's name or quotas. */
  change(org: string, integration: string, body: api.AdminChangeIntegration, options?: CallOptions): Promise<api.AdminIntegration> {
    return this.core.call(true, options, (o) => api.adminIntegrationsChange({ ...o, path: { org, integration }, body }));
  }
}

/** Namespaces of an organization. */
export class AdminNamespaces extends Resource {
  /** List namespaces, and whether their vectors are of the configured models. */
  list(org: string, query: Query<api.AdminNamespacesListData> = {}, options?: CallOptions): Pager<api.AdminNamespace, api.AdminNamespaces> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.adminNamespacesList({ ...o, path: { org }, query: { ...query, ...cursor } })),
      (page) => page.namespaces,
      (page) => page.next_cursor,
    );
  }

  /** Recompute a namespace's vectors with the configured models. */
  reindex(org: string, namespace: string, body: api.AdminReindex = {}, options?: CallOptions): Promise<api.AdminReindexing> {
    return this.core.call(false, options, (o) => api.adminNamespacesReindex({ ...o, path: { org, namespace }, body }));
  }

  /** Say how far the reindexing of a namespace is. */
  reindexing(org: string, namespace: string, options?: CallOptions): Promise<api.AdminReindexing> {
    return this.core.call(true, options, (o) => api.adminNamespacesReindexing({ ...o, path: { org, namespace } }));
  }

  /** Discard what is kept of a namespace since it was reindexed, or what is held. */
  discard(org: string, namespace: string, options?: CallOptions): Promise<api.AdminDiscarded> {
    return this.core.call(true, options, (o) => api.adminNamespacesDiscard({ ...o, path: { org, namespace } }));
  }

  /** The objects of an export of a namespace, as they come. */
  export(
    org: string,
    namespace: string,
    query: Query<api.AdminNamespacesExportData> = {},
    options?: CallOptions,
  ): AsyncGenerator<Record<string, unknown>> {
    return this.core.lines(options, (o) => api.adminNamespacesExport({ ...o, path: { org, namespace }, query }));
  }

  /** Take in what an export wrote. */
  import(
    org: string,
    namespace: string,
    content: string,
    query: Query<api.AdminNamespacesImportData> = {},
    options?: CallOptions,
  ): Promise<api.AdminImportedNamespace> {
    return this.core.call(false, options, (o) =>
      api.adminNamespacesImport({ ...o, path: { org, namespace }, query, body: new Blob([content]), bodySerializer: null }),
    );
  }
}

/** End users of integrations. */
export class AdminEndUsers extends Resource {
  /** List end users with what is kept of them. */
  list(org: string, query: Query<api.AdminEndUsersListData> = {}, options?: CallOptions): Pager<api.AdminEndUser, api.AdminEndUsers> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.adminEndUsersList({ ...o, path: { org }, query: { ...query, ...cursor } })),
      (page) => page.end_users,
      (page) => page.next_cursor,
    );
  }

  /** Erase an end user for good and answer the certificate. */
  erase(id: string, query: Query<api.AdminEndUsersEraseData>, options?: CallOptions): Promise<api.AdminCertificate> {
    return this.core.call(true, options, (o) => api.adminEndUsersErase({ ...o, path: { id }, query }));
  }

  /** Recompute the vectors of an end user's memories with the configured models. */
  reindex(id: string, body: api.AdminReindexUser = {}, query: Query<api.AdminEndUsersReindexData>, options?: CallOptions): Promise<api.AdminReindexing> {
    return this.core.call(false, options, (o) => api.adminEndUsersReindex({ ...o, path: { id }, body, query }));
  }

  /** Say how far the reindexing of an end user's memories is. */
  reindexing(id: string, query: Query<api.AdminEndUsersReindexingData>, options?: CallOptions): Promise<api.AdminReindexing> {
    return this.core.call(true, options, (o) => api.adminEndUsersReindexing({ ...o, path: { id }, query }));
  }

  /** All that is kept of an end user, object by object as it comes. */
  export(id: string, query: Query<api.AdminEndUsersExportData>, options?: CallOptions): AsyncGenerator<Record<string, unknown>> {
    return this.core.lines(options, (o) => api.adminEndUsersExport({ ...o, path: { id }, query }));
  }
}

/** Background work. */
export class AdminJobs extends Resource {
  /** List background jobs, newest first. */
  list(query: Query<api.AdminJobsListData> = {}, options?: CallOptions): Pager<api.AdminJob, api.AdminJobs> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.adminJobsList({ ...o, query: { ...query, ...cursor } })),
      (page) => page.jobs,
      (page) => page.next_cursor,
    );
  }

  /** Read how far a job is. */
  get(job: string, options?: CallOptions): Promise<api.AdminJob> {
    return this.core.call(true, options, (o) => api.adminJobsGet({ ...o, path: { job } }));
  }

  /** End a job early. */
  cancel(job: string, options?: CallOptions): Promise<api.AdminJob> {
    return this.core.call(true, options, (o) => api.adminJobsCancel({ ...o, path: { job } }));
  }
}

/** The configuration. */
export class AdminSettings extends Resource {
  /** Read the server's configuration. */
  get(options?: CallOptions): Promise<api.AdminConfiguration> {
    return this.core.call(true, options, (o) => api.adminSettingsGet({ ...o }));
  }
}

/** People with a role in an organization. */
export class AdminMembers extends Resource {
  /** Invite a person; the code is in this answer alone. */
  invite(org: string, body: api.MemberInvite, options?: CallOptions): Promise<api.MemberInvited> {
    return this.core.call(false, options, (o) => api.adminMembersInvite({ ...o, path: { org }, body }));
  }

  /** List the members of an organization. */
  list(org: string, query: Query<api.AdminMembersListData> = {}, options?: CallOptions): Pager<api.Member, api.Members> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.adminMembersList({ ...o, path: { org }, query: { ...query, ...cursor } })),
      (page) => page.members,
      (page) => page.next_cursor,
    );
  }

  /** Read a member. */
  get(org: string, member: string, options?: CallOptions): Promise<api.Member> {
    return this.core.call(true, options, (o) => api.adminMembersGet({ ...o, path: { org, member } }));
  }

  /** Give a member another role, take signing in from one, or unbind an account. */
  change(org: string, member: string, body: api.MemberChange, options?: CallOptions): Promise<api.Member> {
    return this.core.call(true, options, (o) => api.adminMembersChange({ ...o, path: { org, member }, body }));
  }

  /** Remove a member, whose sessions end at once. */
  remove(org: string, member: string, options?: CallOptions): Promise<api.MemberRemoved> {
    return this.core.call(true, options, (o) => api.adminMembersRemove({ ...o, path: { org, member } }));
  }

  /** Make another invitation; the code is in this answer alone. */
  inviteAgain(org: string, member: string, options?: CallOptions): Promise<api.MemberInvited> {
    return this.core.call(false, options, (o) => api.adminMembersInviteAgain({ ...o, path: { org, member } }));
  }
}

/** Who did what. */
export class AdminAudit extends Resource {
  /** List what was done, newest first. */
  list(query: Query<api.AdminAuditListData> = {}, options?: CallOptions): Pager<api.AuditRecord, api.AuditRecords> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.adminAuditList({ ...o, query: { ...query, ...cursor } })),
      (page) => page.records,
      (page) => page.next_cursor,
    );
  }

  /** Verify that no record was removed, changed or put in. */
  verify(query: Query<api.AdminAuditVerifyData> = {}, options?: CallOptions): Promise<api.AuditVerification> {
    return this.core.call(true, options, (o) => api.adminAuditVerify({ ...o, query }));
  }

  /** The records, oldest first, all of them as they come. */
  export(query: Query<api.AdminAuditExportData> = {}, options?: CallOptions): AsyncGenerator<Record<string, unknown>> {
    return this.core.lines(options, (o) => api.adminAuditExport({ ...o, query }));
  }

  /** The same, as CSV. */
  exportCsv(query: Query<api.AdminAuditExportCsvData> = {}, options?: CallOptions): Promise<string> {
    return this.core.call(true, options, (o) => api.adminAuditExportCsv({ ...o, query, parseAs: "text" }));
  }
}

/** What was done on whose account. */
export class AdminUsage extends Resource {
  /** List what was done, by namespace or integration and key. */
  list(query: Query<api.AdminUsageListData> = {}, options?: CallOptions): Pager<api.UsageRow, api.UsageRows> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.adminUsageList({ ...o, query: { ...query, ...cursor } })),
      (page) => page.usage,
      (page) => page.next_cursor,
    );
  }

  /** List how much text is kept, by namespace and integration. */
  bytes(query: Query<api.AdminUsageBytesData> = {}, options?: CallOptions): Pager<api.UsageKept, api.UsageAllKept> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.adminUsageBytes({ ...o, query: { ...query, ...cursor } })),
      (page) => page.kept,
      (page) => page.next_cursor,
    );
  }

  /** Usage as CSV, all of it. */
  exportCsv(query: Query<api.AdminUsageExportCsvData> = {}, options?: CallOptions): Promise<string> {
    return this.core.call(true, options, (o) => api.adminUsageExportCsv({ ...o, query, parseAs: "text" }));
  }
}

/** Quotas of an organization. */
export class AdminQuotas extends Resource {
  /** Read an organization's quotas and what is used of them. */
  get(org: string, options?: CallOptions): Promise<api.UsageQuotas> {
    return this.core.call(true, options, (o) => api.adminQuotasGet({ ...o, path: { org } }));
  }

  /** Change an organization's quotas. */
  change(org: string, body: api.UsageChangeQuotas, options?: CallOptions): Promise<api.UsageQuotas> {
    return this.core.call(true, options, (o) => api.adminQuotasChange({ ...o, path: { org }, body }));
  }
}

/** Events of an organization. */
export class AdminEvents extends Resource {
  /** Read what has happened in an organization. */
  list(org: string, query: Query<api.AdminEventsListData> = {}, options?: CallOptions): Promise<api.EventPage> {
    return this.core.call(true, options, (o) => api.adminEventsList({ ...o, path: { org }, query }));
  }

  /** Read an event of an organization. */
  get(org: string, id: string, options?: CallOptions): Promise<api.EventTold> {
    return this.core.call(true, options, (o) => api.adminEventsGet({ ...o, path: { org, id } }));
  }

  /**
   * Events as they happen, for ever: an answer is awaited until there is one. MissedEventsError says that
   * events behind `after` are forgotten, unless ignoreMissed.
   */
  async *follow(org: string, options: FollowOptions = {}): AsyncGenerator<api.Event> {
    const wait = options.wait ?? 30;
    for (let after = options.after ?? "latest"; ; ) {
      const query = { after, limit: 1000, wait, ...(options.kinds ? { kinds: options.kinds } : {}) } as Query<api.AdminEventsListData>;
      const page = await this.core.call(true, this.core.longer(options, wait), (o) => api.adminEventsList({ ...o, path: { org }, query }));
      if (page.missed && !options.ignoreMissed) throw new MissedEventsError(page.next_cursor);
      yield* page.events;
      after = page.next_cursor;
    }
  }
}

/** Deliveries of a webhook of an organization. */
export class AdminWebhookDeliveries extends Resource {
  /** List the deliveries of a webhook of an organization. */
  list(org: string, id: string, query: Query<api.AdminWebhooksDeliveriesListData> = {}, options?: CallOptions): Pager<api.WebhookDelivery, api.WebhookDeliveries> {
    return new Pager(
      (cursor) => this.core.call(true, options, (o) => api.adminWebhooksDeliveriesList({ ...o, path: { org, id }, query: { ...query, ...cursor } })),
      (page) => page.deliveries,
      (page) => page.next_cursor,
    );
  }

  /** Read a delivery with its attempts of an organization. */
  get(org: string, id: string, deliveryId: string, options?: CallOptions): Promise<api.WebhookDelivery> {
    return this.core.call(true, options, (o) => api.adminWebhooksDeliveriesGet({ ...o, path: { org, id, delivery_id: deliveryId } }));
  }

  /** Send an event again of an organization. */
  redeliver(org: string, id: string, deliveryId: string, options?: CallOptions): Promise<api.WebhookDelivery> {
    return this.core.call(false, options, (o) => api.adminWebhooksDeliveriesRedeliver({ ...o, path: { org, id, delivery_id: deliveryId } }));
  }
}

/** Webhooks of an organization. */
export class AdminWebhooks extends Resource {
  readonly deliveries = new AdminWebhookDeliveries(this.core);

  /** Make a webhook of an organization. */
  create(org: string, body: api.WebhookCreateOf, options?: CallOptions): Promise<api.WebhookMade> {
    return this.core.call(false, options, (o) => api.adminWebhooksCreate({ ...o, path: { org }, body }));
  }

  /** List webhooks of an organization. */
  list(org: string, options?: CallOptions): Promise<api.Webhooks> {
    return this.core.call(true, options, (o) => api.adminWebhooksList({ ...o, path: { org } }));
  }

  /** Read a webhook of an organization. */
  get(org: string, id: string, options?: CallOptions): Promise<api.Webhook> {
    return this.core.call(true, options, (o) => api.adminWebhooksGet({ ...o, path: { org, id } }));
  }

  /** Change a webhook of an organization. */
  change(org: string, id: string, body: api.WebhookChangeOf, options?: CallOptions): Promise<api.Webhook> {
    return this.core.call(true, options, (o) => api.adminWebhooksChange({ ...o, path: { org, id }, body }));
  }

  /** Delete a webhook of an organization. */
  delete(org: string, id: string, options?: CallOptions): Promise<api.WebhookDeleted> {
    return this.core.call(true, options, (o) => api.adminWebhooksDelete({ ...o, path: { org, id } }));
  }

  /** Send a test to a webhook of an organization. */
  test(org: string, id: string, options?: CallOptions): Promise<api.WebhookTested> {
    return this.core.call(false, options, (o) => api.adminWebhooksTest({ ...o, path: { org, id } }));
  }

  /** Replace the secret of a webhook of an organization. */
  rotate(org: string, id: string, body: api.WebhookRotateOf = {}, options?: CallOptions): Promise<api.WebhookMade> {
    return this.core.call(false, options, (o) => api.adminWebhooksRotate({ ...o, path: { org, id }, body }));
  }

  /** Send what a webhook has not taken of an organization. */
  recover(org: string, id: string, body: api.WebhookRecoverOf, options?: CallOptions): Promise<api.WebhookRecovered> {
    return this.core.call(true, options, (o) => api.adminWebhooksRecover({ ...o, path: { org, id }, body }));
  }
}

/** Administration, with an `adm-` key. */
export class Admin extends Resource {
  readonly organizations = new AdminOrganizations(this.core);
  readonly keys = new AdminKeys(this.core);
  readonly integrations = new AdminIntegrations(this.core);
  readonly namespaces = new AdminNamespaces(this.core);
  readonly endUsers = new AdminEndUsers(this.core);
  readonly jobs = new AdminJobs(this.core);
  readonly settings = new AdminSettings(this.core);
  readonly members = new AdminMembers(this.core);
  readonly audit = new AdminAudit(this.core);
  readonly usage = new AdminUsage(this.core);
  readonly quotas = new AdminQuotas(this.core);
  readonly events = new AdminEvents(this.core);
  readonly webhooks = new AdminWebhooks(this.core);
}
