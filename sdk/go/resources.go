package mneme

import (
	"context"
	"iter"
	"net/http"

	"github.com/mnemehq/mneme/sdk/go/api"
)

// NamespacesService: namespaces, and the search in them.
type NamespacesService struct {
	c *core
}

// Create creates a namespace.
func (s *NamespacesService) Create(ctx context.Context, body CreateNamespace) (*NamespaceCreated, error) {
	return call[NamespaceCreated](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.NamespacesCreate(ctx, nil, body)
	})
}

// List lists the namespaces that hold documents, one page of them.
func (s *NamespacesService) List(ctx context.Context, params *NamespacesListParams) (*NamespacePage, error) {
	return call[NamespacePage](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.NamespacesList(ctx, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *NamespacesService) All(ctx context.Context, params *NamespacesListParams) iter.Seq2[Namespace, error] {
	return pages(params, func(from *NamespacesListParams, cursor string) { from.Cursor = &cursor },
		func(from *NamespacesListParams) (*NamespacePage, error) { return s.List(ctx, from) },
		func(page *NamespacePage) ([]Namespace, *string) { return page.Namespaces, page.NextCursor })
}

// Get reads a namespace.
func (s *NamespacesService) Get(ctx context.Context, namespace string) (*Namespace, error) {
	return call[Namespace](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.NamespacesGet(ctx, namespace, nil)
	})
}

// Delete deletes a namespace and every document in it.
func (s *NamespacesService) Delete(ctx context.Context, namespace string) (*NamespaceDeleted, error) {
	return call[NamespaceDeleted](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.NamespacesDelete(ctx, namespace, nil)
	})
}

// Query finds the chunks that answer a query.
func (s *NamespacesService) Query(ctx context.Context, namespace string, body QueryRequest) (*QueryResult, error) {
	return call[QueryResult](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.NamespacesQuery(ctx, namespace, nil, body)
	})
}

// DocumentsService: documents of a namespace.
type DocumentsService struct {
	c *core
}

// List lists documents, one page of them.
func (s *DocumentsService) List(
	ctx context.Context, namespace string, params *DocumentsListParams,
) (*DocumentPage, error) {
	return call[DocumentPage](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.DocumentsList(ctx, namespace, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *DocumentsService) All(
	ctx context.Context, namespace string, params *DocumentsListParams,
) iter.Seq2[DocumentHead, error] {
	return pages(params, func(from *DocumentsListParams, cursor string) { from.Cursor = &cursor },
		func(from *DocumentsListParams) (*DocumentPage, error) { return s.List(ctx, namespace, from) },
		func(page *DocumentPage) ([]DocumentHead, *string) { return page.Documents, page.NextCursor })
}

// Get reads a document.
func (s *DocumentsService) Get(
	ctx context.Context, namespace, id string, params *DocumentsGetParams,
) (*Document, error) {
	return call[Document](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.DocumentsGet(ctx, namespace, id, params)
	})
}

// Delete deletes documents by ids or by filter.
func (s *DocumentsService) Delete(
	ctx context.Context, namespace string, body DeleteDocuments,
) (*DocumentDeletedSome, error) {
	return call[DocumentDeletedSome](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.DocumentsDelete(ctx, namespace, nil, body)
	})
}

// FilesService: files whose text becomes documents.
type FilesService struct {
	c *core
}

// Formats lists the formats of files that are read.
func (s *FilesService) Formats(ctx context.Context) (*FileFormats, error) {
	return call[FileFormats](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.FormatsList(ctx, nil)
	})
}

// QueriesService: saved queries, and checks that run them.
type QueriesService struct {
	c *core
}

// List lists the saved queries of a namespace.
func (s *QueriesService) List(ctx context.Context, namespace string) (*CheckSavedList, error) {
	return call[CheckSavedList](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.QueriesList(ctx, namespace, nil)
	})
}

// Save saves a query with the documents that it should find.
func (s *QueriesService) Save(ctx context.Context, namespace, query string, body CheckSave) (*CheckSaved, error) {
	return call[CheckSaved](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.QueriesSave(ctx, namespace, query, nil, body)
	})
}

// Delete deletes a saved query.
func (s *QueriesService) Delete(ctx context.Context, namespace, query string) (*CheckRemoved, error) {
	return call[CheckRemoved](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.QueriesDelete(ctx, namespace, query, nil)
	})
}

// Run asks all saved queries of a namespace, and say which find what they should.
func (s *QueriesService) Run(ctx context.Context, namespace string) (*CheckReport, error) {
	return call[CheckReport](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.QueriesRun(ctx, namespace, nil)
	})
}

// MemoryService: end users' memories.
type MemoryService struct {
	c *core
}

// Search searches the memories of one end user.
func (s *MemoryService) Search(ctx context.Context, body MemoryQuery) (*MemoryResults, error) {
	return call[MemoryResults](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.MemoriesSearch(ctx, nil, body)
	})
}

// Save saves a memory. It carries a key to be repeatable, that of
// WithIdempotencyKey or one of its own.
func (s *MemoryService) Save(ctx context.Context, body MemorySave) (*MemorySavedOne, error) {
	params := &api.MemoriesSaveParams{IdempotencyKey: idempotencyKey(ctx)}
	return call[MemorySavedOne](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.MemoriesSave(ctx, params, body)
	})
}

// List lists the memories of one end user, newest first, one page of them.
func (s *MemoryService) List(ctx context.Context, params *MemoriesListParams) (*MemoryPage, error) {
	return call[MemoryPage](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.MemoriesList(ctx, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *MemoryService) All(ctx context.Context, params *MemoriesListParams) iter.Seq2[Memory, error] {
	return pages(params, func(from *MemoriesListParams, cursor string) { from.Cursor = &cursor },
		func(from *MemoriesListParams) (*MemoryPage, error) { return s.List(ctx, from) },
		func(page *MemoryPage) ([]Memory, *string) { return page.Memories, page.NextCursor })
}

// Batch saves up to 100 memories of one end user. It carries a key to be repeatable, that of
// WithIdempotencyKey or one of its own.
func (s *MemoryService) Batch(ctx context.Context, body MemoryBatch) (*MemorySavedBatch, error) {
	params := &api.MemoriesBatchParams{IdempotencyKey: idempotencyKey(ctx)}
	return call[MemorySavedBatch](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.MemoriesBatch(ctx, params, body)
	})
}

// Remember remembers messages of a conversation.
func (s *MemoryService) Remember(ctx context.Context, body MemoryRemember) (*MemoryRemembered, error) {
	return call[MemoryRemembered](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.MemoriesRemember(ctx, nil, body)
	})
}

// Context makes a block for a prompt of what is remembered of a message.
func (s *MemoryService) Context(ctx context.Context, body MemoryContextQuery) (*MemoryContextBlock, error) {
	return call[MemoryContextBlock](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.MemoriesContext(ctx, nil, body)
	})
}

// Delete deletes memories by id.
func (s *MemoryService) Delete(ctx context.Context, body MemoryDelete) (*MemoryDeleted, error) {
	return call[MemoryDeleted](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.MemoriesDelete(ctx, nil, body)
	})
}

// Upsert writes a version of a source-owned memory.
func (s *MemoryService) Upsert(
	ctx context.Context, externalID string, body MemoryUpsert, params *MemoriesUpsertParams,
) (*MemoryApplied, error) {
	return call[MemoryApplied](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.MemoriesUpsert(ctx, externalID, params, body)
	})
}

// Tombstone tombstones a source-owned memory.
func (s *MemoryService) Tombstone(
	ctx context.Context, externalID string, params *MemoriesTombstoneParams,
) (*MemoryApplied, error) {
	return call[MemoryApplied](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.MemoriesTombstone(ctx, externalID, params)
	})
}

// Get reads a source-owned memory's record with its latest receipt.
func (s *MemoryService) Get(ctx context.Context, externalID string, params *MemoriesGetParams) (*MemoryApplied, error) {
	return call[MemoryApplied](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.MemoriesGet(ctx, externalID, params)
	})
}

// Status checks the integration.
func (s *MemoryService) Status(ctx context.Context) (*MemoryStatus, error) {
	return call[MemoryStatus](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.MemoriesStatus(ctx, nil)
	})
}

// Recall answers a question from the memories of one end user.
func (s *MemoryService) Recall(ctx context.Context, body RecallRequest) (*RecallAnswer, error) {
	return call[RecallAnswer](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.MemoriesRecall(ctx, nil, body)
	})
}

// GrantsService: what sources may write of an end user.
type GrantsService struct {
	c *core
}

// Create lets a source system write an end user's memories.
func (s *GrantsService) Create(ctx context.Context, body MemoryCreateGrant) (*MemoryGranted, error) {
	return call[MemoryGranted](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.GrantsCreate(ctx, nil, body)
	})
}

// List lists the grants of an end user, newest first.
func (s *GrantsService) List(ctx context.Context, params *GrantsListParams) (*MemoryGrants, error) {
	return call[MemoryGrants](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.GrantsList(ctx, params)
	})
}

// Revoke revokes a grant.
func (s *GrantsService) Revoke(ctx context.Context, id string) (*MemoryGranted, error) {
	return call[MemoryGranted](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.GrantsRevoke(ctx, id, nil)
	})
}

// UsersService: end users as a whole.
type UsersService struct {
	c *core
}

// Erase erases an end user for good.
func (s *UsersService) Erase(ctx context.Context, endUserID string) (*MemoryErasedUser, error) {
	return call[MemoryErasedUser](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.UsersErase(ctx, endUserID, nil)
	})
}

// ModelsService: the models of the server.
type ModelsService struct {
	c *core
}

// List lists the models.
func (s *ModelsService) List(ctx context.Context, params *ModelsListParams) (*ModelList, error) {
	return call[ModelList](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.ModelsList(ctx, params)
	})
}

// Get reads a model.
func (s *ModelsService) Get(ctx context.Context, id string) (*Model, error) {
	return call[Model](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.ModelsGet(ctx, id, nil)
	})
}

// SourceItemsService: items of a source.
type SourceItemsService struct {
	c *core
}

// List lists what is kept of a source's items, one page of them.
func (s *SourceItemsService) List(
	ctx context.Context, id string, params *SourcesItemsListParams,
) (*SourceItems, error) {
	return call[SourceItems](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesItemsList(ctx, id, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *SourceItemsService) All(
	ctx context.Context, id string, params *SourcesItemsListParams,
) iter.Seq2[SourceItem, error] {
	return pages(params, func(from *SourcesItemsListParams, cursor string) { from.Cursor = &cursor },
		func(from *SourcesItemsListParams) (*SourceItems, error) { return s.List(ctx, id, from) },
		func(page *SourceItems) ([]SourceItem, *string) { return page.Items, page.NextCursor })
}

// Push brings items of a source of kind push.
func (s *SourceItemsService) Push(ctx context.Context, id string, body SourcePushItems) (*SourcePushed, error) {
	return call[SourcePushed](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesItemsPush(ctx, id, nil, body)
	})
}

// SourceRunsService: runs of a source.
type SourceRunsService struct {
	c *core
}

// List lists a source's runs, one page of them.
func (s *SourceRunsService) List(ctx context.Context, id string, params *SourcesRunsListParams) (*SourceRuns, error) {
	return call[SourceRuns](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesRunsList(ctx, id, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *SourceRunsService) All(
	ctx context.Context, id string, params *SourcesRunsListParams,
) iter.Seq2[SourceRun, error] {
	return pages(params, func(from *SourcesRunsListParams, cursor string) { from.Cursor = &cursor },
		func(from *SourcesRunsListParams) (*SourceRuns, error) { return s.List(ctx, id, from) },
		func(page *SourceRuns) ([]SourceRun, *string) { return page.Runs, page.NextCursor })
}

// Begin begins to bring everything that a source of kind push has.
func (s *SourceRunsService) Begin(ctx context.Context, id string, body SourceBeginRun) (*SourceBegun, error) {
	return call[SourceBegun](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesRunsBegin(ctx, id, nil, body)
	})
}

// Get reads a run.
func (s *SourceRunsService) Get(ctx context.Context, id, run string) (*SourceRun, error) {
	return call[SourceRun](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesRunsGet(ctx, id, run, nil)
	})
}

// Items lists what a run did with items that did not stay as they were, one page of them.
func (s *SourceRunsService) Items(
	ctx context.Context, id, run string, params *SourcesRunsItemsParams,
) (*SourceRunItems, error) {
	return call[SourceRunItems](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesRunsItems(ctx, id, run, params)
	})
}

// AllItems goes over what Items lists, page by page as it is read.
func (s *SourceRunsService) AllItems(
	ctx context.Context, id, run string, params *SourcesRunsItemsParams,
) iter.Seq2[SourceRunItem, error] {
	return pages(params, func(from *SourcesRunsItemsParams, cursor string) { from.Cursor = &cursor },
		func(from *SourcesRunsItemsParams) (*SourceRunItems, error) { return s.Items(ctx, id, run, from) },
		func(page *SourceRunItems) ([]SourceRunItem, *string) { return page.Items, page.NextCursor })
}

// Cancel cancels a run.
func (s *SourceRunsService) Cancel(ctx context.Context, id, run string) (*SourceRun, error) {
	return call[SourceRun](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesRunsCancel(ctx, id, run, nil)
	})
}

// RetryFailed tries a run's failed items again.
func (s *SourceRunsService) RetryFailed(ctx context.Context, id, run string) (*SourceRun, error) {
	return call[SourceRun](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesRunsRetryFailed(ctx, id, run, nil)
	})
}

// Complete ends a run of a source of kind push.
func (s *SourceRunsService) Complete(ctx context.Context, id, run string, body SourceCompleteRun) (*SourceRun, error) {
	return call[SourceRun](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesRunsComplete(ctx, id, run, nil, body)
	})
}

// SourcesService: sources, which keep a namespace in step.
type SourcesService struct {
	c     *core
	Items *SourceItemsService
	Runs  *SourceRunsService
}

func newSources(c *core) *SourcesService {
	return &SourcesService{
		c:     c,
		Items: &SourceItemsService{c},
		Runs:  &SourceRunsService{c},
	}
}

// Kinds lists the kinds of sources.
func (s *SourcesService) Kinds(ctx context.Context) (*SourceKinds, error) {
	return call[SourceKinds](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourceKindsList(ctx, nil)
	})
}

// Create connects a source.
func (s *SourcesService) Create(ctx context.Context, body CreateSource) (*Source, error) {
	return call[Source](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesCreate(ctx, nil, body)
	})
}

// List lists sources, one page of them.
func (s *SourcesService) List(ctx context.Context, params *SourcesListParams) (*Sources, error) {
	return call[Sources](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesList(ctx, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *SourcesService) All(ctx context.Context, params *SourcesListParams) iter.Seq2[Source, error] {
	return pages(params, func(from *SourcesListParams, cursor string) { from.Cursor = &cursor },
		func(from *SourcesListParams) (*Sources, error) { return s.List(ctx, from) },
		func(page *Sources) ([]Source, *string) { return page.Sources, page.NextCursor })
}

// Check tries a source's settings.
func (s *SourcesService) Check(ctx context.Context, body CheckSource) (*SourceChecked, error) {
	return call[SourceChecked](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesCheck(ctx, nil, body)
	})
}

// Get reads a source.
func (s *SourcesService) Get(ctx context.Context, id string) (*Source, error) {
	return call[Source](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesGet(ctx, id, nil)
	})
}

// Update changes a source.
func (s *SourcesService) Update(ctx context.Context, id string, body UpdateSource) (*Source, error) {
	return call[Source](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesUpdate(ctx, id, nil, body)
	})
}

// Delete disconnects a source.
func (s *SourcesService) Delete(ctx context.Context, id string, params *SourcesDeleteParams) (*Source, error) {
	return call[Source](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesDelete(ctx, id, params)
	})
}

// Sync starts a run.
func (s *SourcesService) Sync(ctx context.Context, id string, body SyncSource) (*SourceRun, error) {
	return call[SourceRun](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesSync(ctx, id, nil, body)
	})
}

// ApplyDeletions applies withheld deletions.
func (s *SourcesService) ApplyDeletions(ctx context.Context, id string, body SourceApplyDeletions) (*SourceRun, error) {
	return call[SourceRun](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.SourcesApplyDeletions(ctx, id, nil, body)
	})
}

// EventsService: what has happened.
type EventsService struct {
	c *core
}

// Kinds lists the kinds of events.
func (s *EventsService) Kinds(ctx context.Context) (*EventKindList, error) {
	return call[EventKindList](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.EventKindsList(ctx, nil)
	})
}

// List reads what has happened.
func (s *EventsService) List(ctx context.Context, params *EventsListParams) (*EventPage, error) {
	return call[EventPage](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.EventsList(ctx, params)
	})
}

// Get reads an event with its deliveries.
func (s *EventsService) Get(ctx context.Context, id string) (*EventTold, error) {
	return call[EventTold](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.EventsGet(ctx, id, nil)
	})
}

// WebhookDeliveriesService: deliveries of a webhook.
type WebhookDeliveriesService struct {
	c *core
}

// List lists the deliveries of a webhook, one page of them.
func (s *WebhookDeliveriesService) List(
	ctx context.Context, id string, params *WebhooksDeliveriesListParams,
) (*WebhookDeliveries, error) {
	return call[WebhookDeliveries](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.WebhooksDeliveriesList(ctx, id, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *WebhookDeliveriesService) All(
	ctx context.Context, id string, params *WebhooksDeliveriesListParams,
) iter.Seq2[WebhookDelivery, error] {
	return pages(params, func(from *WebhooksDeliveriesListParams, cursor string) { from.Cursor = &cursor },
		func(from *WebhooksDeliveriesListParams) (*WebhookDeliveries, error) { return s.List(ctx, id, from) },
		func(page *WebhookDeliveries) ([]WebhookDelivery, *string) { return page.Deliveries, page.NextCursor })
}

// Get reads a delivery with its attempts.
func (s *WebhookDeliveriesService) Get(ctx context.Context, id, deliveryID string) (*WebhookDelivery, error) {
	return call[WebhookDelivery](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.WebhooksDeliveriesGet(ctx, id, deliveryID, nil)
	})
}

// Redeliver sends an event again.
func (s *WebhookDeliveriesService) Redeliver(ctx context.Context, id, deliveryID string) (*WebhookDelivery, error) {
	return call[WebhookDelivery](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.WebhooksDeliveriesRedeliver(ctx, id, deliveryID, nil)
	})
}

// WebhooksService: endpoints that events are sent to.
type WebhooksService struct {
	c          *core
	Deliveries *WebhookDeliveriesService
}

func newWebhooks(c *core) *WebhooksService {
	return &WebhooksService{
		c:          c,
		Deliveries: &WebhookDeliveriesService{c},
	}
}

// Create makes a webhook.
func (s *WebhooksService) Create(ctx context.Context, body WebhookCreate) (*WebhookMade, error) {
	return call[WebhookMade](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.WebhooksCreate(ctx, nil, body)
	})
}

// List lists webhooks.
func (s *WebhooksService) List(ctx context.Context) (*Webhooks, error) {
	return call[Webhooks](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.WebhooksList(ctx, nil)
	})
}

// Get reads a webhook.
func (s *WebhooksService) Get(ctx context.Context, id string) (*Webhook, error) {
	return call[Webhook](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.WebhooksGet(ctx, id, nil)
	})
}

// Change changes a webhook.
func (s *WebhooksService) Change(ctx context.Context, id string, body WebhookChange) (*Webhook, error) {
	return call[Webhook](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.WebhooksChange(ctx, id, nil, body)
	})
}

// Delete deletes a webhook.
func (s *WebhooksService) Delete(ctx context.Context, id string) (*WebhookDeleted, error) {
	return call[WebhookDeleted](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.WebhooksDelete(ctx, id, nil)
	})
}

// Test sends a test to a webhook.
func (s *WebhooksService) Test(ctx context.Context, id string) (*WebhookTested, error) {
	return call[WebhookTested](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.WebhooksTest(ctx, id, nil)
	})
}

// Rotate replaces the secret of a webhook.
func (s *WebhooksService) Rotate(ctx context.Context, id string, body WebhookRotate) (*WebhookMade, error) {
	return call[WebhookMade](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.WebhooksRotate(ctx, id, nil, body)
	})
}

// Recover sends what a webhook has not taken.
func (s *WebhooksService) Recover(ctx context.Context, id string, body WebhookRecover) (*WebhookRecovered, error) {
	return call[WebhookRecovered](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.WebhooksRecover(ctx, id, nil, body)
	})
}

// AdminOrganizationsService: organizations.
type AdminOrganizationsService struct {
	c *core
}

// Create makes an organization.
func (s *AdminOrganizationsService) Create(
	ctx context.Context, body AdminCreateOrganization,
) (*AdminOrganization, error) {
	return call[AdminOrganization](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminOrganizationsCreate(ctx, nil, body)
	})
}

// List lists organizations, one page of them.
func (s *AdminOrganizationsService) List(
	ctx context.Context, params *AdminOrganizationsListParams,
) (*AdminOrganizations, error) {
	return call[AdminOrganizations](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminOrganizationsList(ctx, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *AdminOrganizationsService) All(
	ctx context.Context, params *AdminOrganizationsListParams,
) iter.Seq2[AdminOrganization, error] {
	return pages(params, func(from *AdminOrganizationsListParams, cursor string) { from.Cursor = &cursor },
		func(from *AdminOrganizationsListParams) (*AdminOrganizations, error) { return s.List(ctx, from) },
		func(page *AdminOrganizations) ([]AdminOrganization, *string) {
			return page.Organizations, page.NextCursor
		})
}

// Get reads an organization.
func (s *AdminOrganizationsService) Get(ctx context.Context, org string) (*AdminOrganization, error) {
	return call[AdminOrganization](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminOrganizationsGet(ctx, org, nil)
	})
}

// Change rename,s suspend or resume an organization.
func (s *AdminOrganizationsService) Change(
	ctx context.Context, org string, body AdminChangeOrganization,
) (*AdminOrganization, error) {
	return call[AdminOrganization](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminOrganizationsChange(ctx, org, nil, body)
	})
}

// Delete deletes an organization with everything in it.
func (s *AdminOrganizationsService) Delete(
	ctx context.Context, org string, params *AdminOrganizationsDeleteParams,
) (*AdminOrganizationDeletion, error) {
	return call[AdminOrganizationDeletion](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminOrganizationsDelete(ctx, org, params)
	})
}

// AdminKeysService: keys of an organization.
type AdminKeysService struct {
	c *core
}

// Create makes a key; its secret is in this answer alone.
func (s *AdminKeysService) Create(ctx context.Context, org string, body AdminCreateKey) (*AdminIssuedKey, error) {
	return call[AdminIssuedKey](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminKeysCreate(ctx, org, nil, body)
	})
}

// List lists an organization's keys, one page of them.
func (s *AdminKeysService) List(ctx context.Context, org string, params *AdminKeysListParams) (*AdminKeys, error) {
	return call[AdminKeys](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminKeysList(ctx, org, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *AdminKeysService) All(
	ctx context.Context, org string, params *AdminKeysListParams,
) iter.Seq2[AdminKey, error] {
	return pages(params, func(from *AdminKeysListParams, cursor string) { from.Cursor = &cursor },
		func(from *AdminKeysListParams) (*AdminKeys, error) { return s.List(ctx, org, from) },
		func(page *AdminKeys) ([]AdminKey, *string) { return page.Keys, page.NextCursor })
}

// Get reads a key's description.
func (s *AdminKeysService) Get(ctx context.Context, org, id string) (*AdminKey, error) {
	return call[AdminKey](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminKeysGet(ctx, org, id, nil)
	})
}

// Change changes a key's name, limits, default namespace or read-only state.
func (s *AdminKeysService) Change(ctx context.Context, org, id string, body AdminChangeKey) (*AdminKey, error) {
	return call[AdminKey](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminKeysChange(ctx, org, id, nil, body)
	})
}

// Revoke revokes a key, within a second everywhere.
func (s *AdminKeysService) Revoke(ctx context.Context, org, id string) (*AdminRevoked, error) {
	return call[AdminRevoked](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminKeysRevoke(ctx, org, id, nil)
	})
}

// Rotate makes a new secret with a key's rights.
func (s *AdminKeysService) Rotate(ctx context.Context, org, id string, body AdminRotateKey) (*AdminIssuedKey, error) {
	return call[AdminIssuedKey](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminKeysRotate(ctx, org, id, nil, body)
	})
}

// AdminIntegrationKeysService: keys of an integration.
type AdminIntegrationKeysService struct {
	c *core
}

// Create makes a key of an integration; its secret is in this answer alone.
func (s *AdminIntegrationKeysService) Create(
	ctx context.Context, org, integration string, body AdminCreateIntegrationKey,
) (*AdminIssuedKey, error) {
	return call[AdminIssuedKey](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminIntegrationsKeysCreate(ctx, org, integration, nil, body)
	})
}

// List lists an integration's keys, one page of them.
func (s *AdminIntegrationKeysService) List(
	ctx context.Context, org, integration string, params *AdminIntegrationsKeysListParams,
) (*AdminKeys, error) {
	return call[AdminKeys](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminIntegrationsKeysList(ctx, org, integration, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *AdminIntegrationKeysService) All(
	ctx context.Context, org, integration string, params *AdminIntegrationsKeysListParams,
) iter.Seq2[AdminKey, error] {
	return pages(params, func(from *AdminIntegrationsKeysListParams, cursor string) { from.Cursor = &cursor },
		func(from *AdminIntegrationsKeysListParams) (*AdminKeys, error) {
			return s.List(ctx, org, integration, from)
		},
		func(page *AdminKeys) ([]AdminKey, *string) { return page.Keys, page.NextCursor })
}

// AdminIntegrationsService: integrations, which keep memories.
type AdminIntegrationsService struct {
	c    *core
	Keys *AdminIntegrationKeysService
}

func newAdminIntegrations(c *core) *AdminIntegrationsService {
	return &AdminIntegrationsService{
		c:    c,
		Keys: &AdminIntegrationKeysService{c},
	}
}

// Create makes an integration.
func (s *AdminIntegrationsService) Create(
	ctx context.Context, org string, body AdminCreateIntegration,
) (*AdminIntegration, error) {
	return call[AdminIntegration](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminIntegrationsCreate(ctx, org, nil, body)
	})
}

// List lists an organization's integrations, one page of them.
func (s *AdminIntegrationsService) List(
	ctx context.Context, org string, params *AdminIntegrationsListParams,
) (*AdminIntegrations, error) {
	return call[AdminIntegrations](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminIntegrationsList(ctx, org, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *AdminIntegrationsService) All(
	ctx context.Context, org string, params *AdminIntegrationsListParams,
) iter.Seq2[AdminIntegration, error] {
	return pages(params, func(from *AdminIntegrationsListParams, cursor string) { from.Cursor = &cursor },
		func(from *AdminIntegrationsListParams) (*AdminIntegrations, error) { return s.List(ctx, org, from) },
		func(page *AdminIntegrations) ([]AdminIntegration, *string) { return page.Integrations, page.NextCursor })
}

// Get reads an integration.
func (s *AdminIntegrationsService) Get(ctx context.Context, org, integration string) (*AdminIntegration, error) {
	return call[AdminIntegration](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminIntegrationsGet(ctx, org, integration, nil)
	})
}

// Change changes an integration's name or quotas.
func (s *AdminIntegrationsService) Change(
	ctx context.Context, org, integration string, body AdminChangeIntegration,
) (*AdminIntegration, error) {
	return call[AdminIntegration](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminIntegrationsChange(ctx, org, integration, nil, body)
	})
}

// AdminNamespacesService: namespaces of an organization.
type AdminNamespacesService struct {
	c *core
}

// List lists namespaces, and whether their vectors are of the configured models, one page of them.
func (s *AdminNamespacesService) List(
	ctx context.Context, org string, params *AdminNamespacesListParams,
) (*AdminNamespaces, error) {
	return call[AdminNamespaces](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminNamespacesList(ctx, org, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *AdminNamespacesService) All(
	ctx context.Context, org string, params *AdminNamespacesListParams,
) iter.Seq2[AdminNamespace, error] {
	return pages(params, func(from *AdminNamespacesListParams, cursor string) { from.Cursor = &cursor },
		func(from *AdminNamespacesListParams) (*AdminNamespaces, error) { return s.List(ctx, org, from) },
		func(page *AdminNamespaces) ([]AdminNamespace, *string) { return page.Namespaces, page.NextCursor })
}

// Reindex recomputes a namespace's vectors with the configured models.
func (s *AdminNamespacesService) Reindex(
	ctx context.Context, org, namespace string, body AdminReindex,
) (*AdminReindexing, error) {
	return call[AdminReindexing](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminNamespacesReindex(ctx, org, namespace, nil, body)
	})
}

// Reindexing says how far the reindexing of a namespace is.
func (s *AdminNamespacesService) Reindexing(ctx context.Context, org, namespace string) (*AdminReindexing, error) {
	return call[AdminReindexing](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminNamespacesReindexing(ctx, org, namespace, nil)
	})
}

// Discard discards what is kept of a namespace since it was reindexed, or what is held.
func (s *AdminNamespacesService) Discard(ctx context.Context, org, namespace string) (*AdminDiscarded, error) {
	return call[AdminDiscarded](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminNamespacesDiscard(ctx, org, namespace, nil)
	})
}

// AdminEndUsersService: end users of integrations.
type AdminEndUsersService struct {
	c *core
}

// List lists end users with what is kept of them, one page of them.
func (s *AdminEndUsersService) List(
	ctx context.Context, org string, params *AdminEndUsersListParams,
) (*AdminEndUsers, error) {
	return call[AdminEndUsers](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminEndUsersList(ctx, org, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *AdminEndUsersService) All(
	ctx context.Context, org string, params *AdminEndUsersListParams,
) iter.Seq2[AdminEndUser, error] {
	return pages(params, func(from *AdminEndUsersListParams, cursor string) { from.Cursor = &cursor },
		func(from *AdminEndUsersListParams) (*AdminEndUsers, error) { return s.List(ctx, org, from) },
		func(page *AdminEndUsers) ([]AdminEndUser, *string) { return page.EndUsers, page.NextCursor })
}

// Erase erases an end user for good and answer the certificate.
func (s *AdminEndUsersService) Erase(
	ctx context.Context, id string, params *AdminEndUsersEraseParams,
) (*AdminCertificate, error) {
	return call[AdminCertificate](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminEndUsersErase(ctx, id, params)
	})
}

// Reindex recomputes the vectors of an end user's memories with the configured models.
func (s *AdminEndUsersService) Reindex(
	ctx context.Context, id string, body AdminReindexUser, params *AdminEndUsersReindexParams,
) (*AdminReindexing, error) {
	return call[AdminReindexing](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminEndUsersReindex(ctx, id, params, body)
	})
}

// Reindexing says how far the reindexing of an end user's memories is.
func (s *AdminEndUsersService) Reindexing(
	ctx context.Context, id string, params *AdminEndUsersReindexingParams,
) (*AdminReindexing, error) {
	return call[AdminReindexing](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminEndUsersReindexing(ctx, id, params)
	})
}

// AdminJobsService: background work.
type AdminJobsService struct {
	c *core
}

// List lists background jobs, newest first, one page of them.
func (s *AdminJobsService) List(ctx context.Context, params *AdminJobsListParams) (*AdminJobs, error) {
	return call[AdminJobs](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminJobsList(ctx, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *AdminJobsService) All(ctx context.Context, params *AdminJobsListParams) iter.Seq2[AdminJob, error] {
	return pages(params, func(from *AdminJobsListParams, cursor string) { from.Cursor = &cursor },
		func(from *AdminJobsListParams) (*AdminJobs, error) { return s.List(ctx, from) },
		func(page *AdminJobs) ([]AdminJob, *string) { return page.Jobs, page.NextCursor })
}

// Get reads how far a job is.
func (s *AdminJobsService) Get(ctx context.Context, job string) (*AdminJob, error) {
	return call[AdminJob](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminJobsGet(ctx, job, nil)
	})
}

// Cancel ends a job early.
func (s *AdminJobsService) Cancel(ctx context.Context, job string) (*AdminJob, error) {
	return call[AdminJob](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminJobsCancel(ctx, job, nil)
	})
}

// AdminSettingsService: the configuration.
type AdminSettingsService struct {
	c *core
}

// Get reads the server's configuration.
func (s *AdminSettingsService) Get(ctx context.Context) (*AdminConfiguration, error) {
	return call[AdminConfiguration](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminSettingsGet(ctx, nil)
	})
}

// AdminMembersService: people with a role in an organization.
type AdminMembersService struct {
	c *core
}

// Invite invites a person; the code is in this answer alone.
func (s *AdminMembersService) Invite(ctx context.Context, org string, body MemberInvite) (*MemberInvited, error) {
	return call[MemberInvited](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminMembersInvite(ctx, org, nil, body)
	})
}

// List lists the members of an organization, one page of them.
func (s *AdminMembersService) List(ctx context.Context, org string, params *AdminMembersListParams) (*Members, error) {
	return call[Members](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminMembersList(ctx, org, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *AdminMembersService) All(
	ctx context.Context, org string, params *AdminMembersListParams,
) iter.Seq2[Member, error] {
	return pages(params, func(from *AdminMembersListParams, cursor string) { from.Cursor = &cursor },
		func(from *AdminMembersListParams) (*Members, error) { return s.List(ctx, org, from) },
		func(page *Members) ([]Member, *string) { return page.Members, page.NextCursor })
}

// Get reads a member.
func (s *AdminMembersService) Get(ctx context.Context, org, member string) (*Member, error) {
	return call[Member](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminMembersGet(ctx, org, member, nil)
	})
}

// Change gives a member another role, takes signing in from one, or unbinds an account.
func (s *AdminMembersService) Change(ctx context.Context, org, member string, body MemberChange) (*Member, error) {
	return call[Member](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminMembersChange(ctx, org, member, nil, body)
	})
}

// Remove removes a member, whose sessions end at once.
func (s *AdminMembersService) Remove(ctx context.Context, org, member string) (*MemberRemoved, error) {
	return call[MemberRemoved](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminMembersRemove(ctx, org, member, nil)
	})
}

// InviteAgain makes another invitation; the code is in this answer alone.
func (s *AdminMembersService) InviteAgain(ctx context.Context, org, member string) (*MemberInvited, error) {
	return call[MemberInvited](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminMembersInviteAgain(ctx, org, member, nil)
	})
}

// AdminAuditService: who did what.
type AdminAuditService struct {
	c *core
}

// List lists what was done, newest first, one page of them.
func (s *AdminAuditService) List(ctx context.Context, params *AdminAuditListParams) (*AuditRecords, error) {
	return call[AuditRecords](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminAuditList(ctx, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *AdminAuditService) All(ctx context.Context, params *AdminAuditListParams) iter.Seq2[AuditRecord, error] {
	return pages(params, func(from *AdminAuditListParams, cursor string) { from.Cursor = &cursor },
		func(from *AdminAuditListParams) (*AuditRecords, error) { return s.List(ctx, from) },
		func(page *AuditRecords) ([]AuditRecord, *string) { return page.Records, page.NextCursor })
}

// Verify verifies that no record was removed, changed or put in.
func (s *AdminAuditService) Verify(ctx context.Context, params *AdminAuditVerifyParams) (*AuditVerification, error) {
	return call[AuditVerification](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminAuditVerify(ctx, params)
	})
}

// AdminUsageService: what was done on whose account.
type AdminUsageService struct {
	c *core
}

// List lists what was done, by namespace or integration and key, one page of them.
func (s *AdminUsageService) List(ctx context.Context, params *AdminUsageListParams) (*UsageRows, error) {
	return call[UsageRows](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminUsageList(ctx, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *AdminUsageService) All(ctx context.Context, params *AdminUsageListParams) iter.Seq2[UsageRow, error] {
	return pages(params, func(from *AdminUsageListParams, cursor string) { from.Cursor = &cursor },
		func(from *AdminUsageListParams) (*UsageRows, error) { return s.List(ctx, from) },
		func(page *UsageRows) ([]UsageRow, *string) { return page.Usage, page.NextCursor })
}

// Bytes lists how much text is kept, by namespace and integration, one page of them.
func (s *AdminUsageService) Bytes(ctx context.Context, params *AdminUsageBytesParams) (*UsageAllKept, error) {
	return call[UsageAllKept](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminUsageBytes(ctx, params)
	})
}

// AllBytes goes over what Bytes lists, page by page as it is read.
func (s *AdminUsageService) AllBytes(ctx context.Context, params *AdminUsageBytesParams) iter.Seq2[UsageKept, error] {
	return pages(params, func(from *AdminUsageBytesParams, cursor string) { from.Cursor = &cursor },
		func(from *AdminUsageBytesParams) (*UsageAllKept, error) { return s.Bytes(ctx, from) },
		func(page *UsageAllKept) ([]UsageKept, *string) { return page.Kept, page.NextCursor })
}

// AdminQuotasService: quotas of an organization.
type AdminQuotasService struct {
	c *core
}

// Get reads an organization's quotas and what is used of them.
func (s *AdminQuotasService) Get(ctx context.Context, org string) (*UsageQuotas, error) {
	return call[UsageQuotas](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminQuotasGet(ctx, org, nil)
	})
}

// Change changes an organization's quotas.
func (s *AdminQuotasService) Change(ctx context.Context, org string, body UsageChangeQuotas) (*UsageQuotas, error) {
	return call[UsageQuotas](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminQuotasChange(ctx, org, nil, body)
	})
}

// AdminEventsService: events of an organization.
type AdminEventsService struct {
	c *core
}

// List reads what has happened in an organization.
func (s *AdminEventsService) List(ctx context.Context, org string, params *AdminEventsListParams) (*EventPage, error) {
	return call[EventPage](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminEventsList(ctx, org, params)
	})
}

// Get reads an event of an organization.
func (s *AdminEventsService) Get(ctx context.Context, org, id string) (*EventTold, error) {
	return call[EventTold](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminEventsGet(ctx, org, id, nil)
	})
}

// AdminWebhookDeliveriesService: deliveries of a webhook of an organization.
type AdminWebhookDeliveriesService struct {
	c *core
}

// List lists the deliveries of a webhook of an organization, one page of them.
func (s *AdminWebhookDeliveriesService) List(
	ctx context.Context, org, id string, params *AdminWebhooksDeliveriesListParams,
) (*WebhookDeliveries, error) {
	return call[WebhookDeliveries](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminWebhooksDeliveriesList(ctx, org, id, params)
	})
}

// All goes over what List lists, page by page as it is read.
func (s *AdminWebhookDeliveriesService) All(
	ctx context.Context, org, id string, params *AdminWebhooksDeliveriesListParams,
) iter.Seq2[WebhookDelivery, error] {
	return pages(params, func(from *AdminWebhooksDeliveriesListParams, cursor string) { from.Cursor = &cursor },
		func(from *AdminWebhooksDeliveriesListParams) (*WebhookDeliveries, error) {
			return s.List(ctx, org, id, from)
		},
		func(page *WebhookDeliveries) ([]WebhookDelivery, *string) { return page.Deliveries, page.NextCursor })
}

// Get reads a delivery with its attempts of an organization.
func (s *AdminWebhookDeliveriesService) Get(ctx context.Context, org, id, deliveryID string) (*WebhookDelivery, error) {
	return call[WebhookDelivery](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminWebhooksDeliveriesGet(ctx, org, id, deliveryID, nil)
	})
}

// Redeliver sends an event again of an organization.
func (s *AdminWebhookDeliveriesService) Redeliver(
	ctx context.Context, org, id, deliveryID string,
) (*WebhookDelivery, error) {
	return call[WebhookDelivery](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminWebhooksDeliveriesRedeliver(ctx, org, id, deliveryID, nil)
	})
}

// AdminWebhooksService: webhooks of an organization.
type AdminWebhooksService struct {
	c          *core
	Deliveries *AdminWebhookDeliveriesService
}

func newAdminWebhooks(c *core) *AdminWebhooksService {
	return &AdminWebhooksService{
		c:          c,
		Deliveries: &AdminWebhookDeliveriesService{c},
	}
}

// Create makes a webhook of an organization.
func (s *AdminWebhooksService) Create(ctx context.Context, org string, body WebhookCreateOf) (*WebhookMade, error) {
	return call[WebhookMade](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminWebhooksCreate(ctx, org, nil, body)
	})
}

// List lists webhooks of an organization.
func (s *AdminWebhooksService) List(ctx context.Context, org string) (*Webhooks, error) {
	return call[Webhooks](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminWebhooksList(ctx, org, nil)
	})
}

// Get reads a webhook of an organization.
func (s *AdminWebhooksService) Get(ctx context.Context, org, id string) (*Webhook, error) {
	return call[Webhook](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminWebhooksGet(ctx, org, id, nil)
	})
}

// Change changes a webhook of an organization.
func (s *AdminWebhooksService) Change(ctx context.Context, org, id string, body WebhookChangeOf) (*Webhook, error) {
	return call[Webhook](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminWebhooksChange(ctx, org, id, nil, body)
	})
}

// Delete deletes a webhook of an organization.
func (s *AdminWebhooksService) Delete(ctx context.Context, org, id string) (*WebhookDeleted, error) {
	return call[WebhookDeleted](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminWebhooksDelete(ctx, org, id, nil)
	})
}

// Test sends a test to a webhook of an organization.
func (s *AdminWebhooksService) Test(ctx context.Context, org, id string) (*WebhookTested, error) {
	return call[WebhookTested](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminWebhooksTest(ctx, org, id, nil)
	})
}

// Rotate replaces the secret of a webhook of an organization.
func (s *AdminWebhooksService) Rotate(ctx context.Context, org, id string, body WebhookRotateOf) (*WebhookMade, error) {
	return call[WebhookMade](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminWebhooksRotate(ctx, org, id, nil, body)
	})
}

// Recover sends what a webhook has not taken of an organization.
func (s *AdminWebhooksService) Recover(
	ctx context.Context, org, id string, body WebhookRecoverOf,
) (*WebhookRecovered, error) {
	return call[WebhookRecovered](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminWebhooksRecover(ctx, org, id, nil, body)
	})
}

// AdminService: administration, with an `adm-` key.
type AdminService struct {
	c             *core
	Organizations *AdminOrganizationsService
	Keys          *AdminKeysService
	Integrations  *AdminIntegrationsService
	Namespaces    *AdminNamespacesService
	EndUsers      *AdminEndUsersService
	Jobs          *AdminJobsService
	Settings      *AdminSettingsService
	Members       *AdminMembersService
	Audit         *AdminAuditService
	Usage         *AdminUsageService
	Quotas        *AdminQuotasService
	Events        *AdminEventsService
	Webhooks      *AdminWebhooksService
}

func newAdmin(c *core) *AdminService {
	return &AdminService{
		c:             c,
		Organizations: &AdminOrganizationsService{c},
		Keys:          &AdminKeysService{c},
		Integrations:  newAdminIntegrations(c),
		Namespaces:    &AdminNamespacesService{c},
		EndUsers:      &AdminEndUsersService{c},
		Jobs:          &AdminJobsService{c},
		Settings:      &AdminSettingsService{c},
		Members:       &AdminMembersService{c},
		Audit:         &AdminAuditService{c},
		Usage:         &AdminUsageService{c},
		Quotas:        &AdminQuotasService{c},
		Events:        &AdminEventsService{c},
		Webhooks:      newAdminWebhooks(c),
	}
}
