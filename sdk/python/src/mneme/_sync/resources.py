# Made by scripts/unasync.py.
"""The operations, by what they are about. Arguments that are left out are not sent."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from .. import _policy, errors
from .._api import api
from .._api import models as m
from .._api.types import UNSET, Unset
from .core import Core, Pager, Resource


class Namespaces(Resource):
    """Namespaces, and the search in them."""

    def create(
        self, *, name: str, sparse: bool | Unset = UNSET, embedding_model: str | Unset = UNSET
    ) -> m.NamespaceCreated:
        """Create a namespace."""
        return self._core.call(
            api.namespaces.namespaces_create.sync_detailed,
            m.NamespaceCreated,
            body=m.CreateNamespace.from_dict(_policy.body(name=name, sparse=sparse, embedding_model=embedding_model)),
        )

    def list(
        self, *, limit: int | Unset = UNSET, prefix: str | Unset = UNSET, cursor: str | Unset = UNSET
    ) -> Pager[m.Namespace, m.NamespacePage]:
        """List the namespaces that hold documents."""

        def fetch(cursor: str | Unset) -> m.NamespacePage:
            return self._core.call(
                api.namespaces.namespaces_list.sync_detailed,
                m.NamespacePage,
                limit=limit,
                prefix=prefix,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.namespaces, lambda page: page.next_cursor, cursor)

    def get(self, namespace: str) -> m.Namespace:
        """Read a namespace."""
        return self._core.call(api.namespaces.namespaces_get.sync_detailed, m.Namespace, namespace)

    def delete(self, namespace: str) -> m.NamespaceDeleted:
        """Delete a namespace and every document in it."""
        return self._core.call(api.namespaces.namespaces_delete.sync_detailed, m.NamespaceDeleted, namespace)

    def query(
        self,
        namespace: str,
        *,
        query: str,
        top_k: int | Unset | None = UNSET,
        retrievers: Sequence[Literal["vector", "keyword", "sparse"]] | Unset | None = UNSET,
        mode: Literal["hybrid", "vector", "keyword", "sparse"] | Unset | None = UNSET,
        weights: Mapping[str, Any] | Unset | None = UNSET,
        filter: Mapping[str, Any] | Unset = UNSET,
        rerank: bool | m.QueryRerank | Mapping[str, Any] | Unset | None = UNSET,
        min_score: float | Unset | None = UNSET,
        max_chunks_per_document: int | Unset | None = UNSET,
        neighbors: int | Unset | None = UNSET,
        include_text: bool | Unset | None = UNSET,
        include_metadata: bool | Unset | None = UNSET,
        explain: bool | Unset | None = UNSET,
        strict: bool | Unset | None = UNSET,
    ) -> m.QueryResult:
        """Find the chunks that answer a query."""
        return self._core.call(
            api.query.namespaces_query.sync_detailed,
            m.QueryResult,
            namespace,
            body=m.QueryRequest.from_dict(
                _policy.body(
                    query=query,
                    top_k=top_k,
                    retrievers=retrievers,
                    mode=mode,
                    weights=weights,
                    filter=filter,
                    rerank=rerank,
                    min_score=min_score,
                    max_chunks_per_document=max_chunks_per_document,
                    neighbors=neighbors,
                    include_text=include_text,
                    include_metadata=include_metadata,
                    explain=explain,
                    strict=strict,
                )
            ),
        )


class Documents(Resource):
    """Documents of a namespace."""

    def list(
        self,
        namespace: str,
        *,
        limit: int | Unset = UNSET,
        prefix: str | Unset = UNSET,
        source_id: str | Unset = UNSET,
        order: Literal["id", "updated_at"] | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> Pager[m.DocumentHead, m.DocumentPage]:
        """List documents."""

        def fetch(cursor: str | Unset) -> m.DocumentPage:
            return self._core.call(
                api.documents.documents_list.sync_detailed,
                m.DocumentPage,
                namespace,
                limit=limit,
                prefix=prefix,
                source_id=source_id,
                order=order,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.documents, lambda page: page.next_cursor, cursor)

    def get(
        self,
        namespace: str,
        id: str,
        *,
        include: Sequence[Literal["chunks"]] | Unset = UNSET,
        if_none_match: str | Unset = UNSET,
    ) -> m.Document:
        """Read a document."""
        return self._core.call(
            api.documents.documents_get.sync_detailed,
            m.Document,
            namespace,
            id,
            include=include,
            if_none_match=if_none_match,
        )

    def delete(
        self, namespace: str, *, ids: Sequence[str] | Unset | None = UNSET, filter: Mapping[str, Any] | Unset = UNSET
    ) -> m.DocumentDeletedSome:
        """Delete documents by ids or by filter."""
        return self._core.call(
            api.documents.documents_delete.sync_detailed,
            m.DocumentDeletedSome,
            namespace,
            body=m.DeleteDocuments.from_dict(_policy.body(ids=ids, filter=filter)),
        )

    def write(
        self,
        namespace: str,
        documents: Sequence[m.DocumentInput | Mapping[str, Any]],
        *,
        expect_sparse: bool | Unset = UNSET,
    ) -> m.DocumentWritten:
        """Write documents; the answer comes when they are on disk and found by the next query."""
        given = _policy.body(documents=documents, expect_sparse=expect_sparse)
        body = m.WriteDocuments.from_dict(given)
        return self._core.call(api.documents.documents_write.sync_detailed, m.DocumentWritten, namespace, body=body)

    def write_soon(
        self,
        namespace: str,
        documents: Sequence[m.DocumentInput | Mapping[str, Any]],
        *,
        expect_sparse: bool | Unset = UNSET,
    ) -> m.DocumentWritten:
        """Write documents; the answer comes when they are on disk.

        Where ``searchable`` is false, an index takes them in the background; a query that comes first waits for it.
        """
        given = _policy.body(documents=documents, expect_sparse=expect_sparse)
        body = m.WriteDocuments.from_dict(given)
        return self._core.call(
            api.documents.documents_write.sync_detailed,
            m.DocumentWritten,
            namespace,
            body=body,
            prefer="searchable=soon",
        )

    def write_later(
        self,
        namespace: str,
        documents: Sequence[m.DocumentInput | Mapping[str, Any]],
        *,
        expect_sparse: bool | Unset = UNSET,
    ) -> m.DocumentOperation:
        """Leave a write to the server; ``wait`` waits for it."""
        given = _policy.body(documents=documents, expect_sparse=expect_sparse)
        body = m.WriteDocuments.from_dict(given)
        return self._core.call(
            api.documents.documents_write.sync_detailed,
            m.DocumentOperation,
            namespace,
            body=body,
            prefer="respond-async",
        )

    def operation(self, namespace: str, operation: str) -> m.DocumentOperation:
        """How far a write is that was left to the server."""
        return self._core.call(api.documents.operations_get.sync_detailed, m.DocumentOperation, namespace, operation)

    def wait(self, namespace: str, operation: str, *, every: float = 0.5) -> m.DocumentOperation:
        """The operation when it has succeeded; OperationFailedError where it has failed."""
        while True:
            now = self.operation(namespace, operation)
            if now.status == "failed":
                failure = now.error if isinstance(now.error, m.DocumentFailure) else None
                raise errors.OperationFailedError(failure.code if failure else "", failure.message if failure else "")
            if now.status == "succeeded":
                return now
            _policy.sleep(every)


class Files(Resource):
    """Files whose text becomes documents."""

    def formats(self) -> m.FileFormats:
        """List the formats of files that are read."""
        return self._core.call(api.documents.formats_list.sync_detailed, m.FileFormats)

    def upload(
        self,
        namespace: str,
        *files: _policy.FileInput,
        metadata: Mapping[str, Any] | None = None,
        dry_run: bool | Unset = UNSET,
    ) -> m.FileUploaded:
        """Read files and write their text as documents; with ``dry_run`` only show what would be written."""
        given, told = _policy.files(files), _policy.form_metadata(metadata)

        def attempt() -> m.FileUploaded:
            for file in given:
                file.payload.seek(0)
            return self._core.once(
                api.documents.files_upload.sync_detailed,
                m.FileUploaded,
                namespace,
                body=m.FileForm(file=given, metadata=told),
                dry_run=dry_run,
            )

        return self._core.again(attempt, repeatable=True)

    def upload_later(
        self, namespace: str, *files: _policy.FileInput, metadata: Mapping[str, Any] | None = None
    ) -> m.FileAccepted:
        """The same, but the server writes later; ``documents.wait`` with the answer's id waits for it."""
        given, told = _policy.files(files), _policy.form_metadata(metadata)

        def attempt() -> m.FileAccepted:
            for file in given:
                file.payload.seek(0)
            return self._core.once(
                api.documents.files_upload.sync_detailed,
                m.FileAccepted,
                namespace,
                body=m.FileForm(file=given, metadata=told),
                prefer="respond-async",
            )

        return self._core.again(attempt, repeatable=True)


class Queries(Resource):
    """Saved queries, and checks that run them."""

    def list(self, namespace: str) -> m.CheckSavedList:
        """List the saved queries of a namespace."""
        return self._core.call(api.query.queries_list.sync_detailed, m.CheckSavedList, namespace)

    def save(
        self,
        namespace: str,
        name: str,
        *,
        query: str,
        expect: Sequence[str],
        within: int | Unset | None = UNSET,
        mode: Literal["hybrid", "vector", "keyword", "sparse"] | Unset | None = UNSET,
        filter: Mapping[str, Any] | Unset = UNSET,
        rerank: bool | Unset = UNSET,
        min_score: float | Unset | None = UNSET,
    ) -> m.CheckSaved:
        """Save a query with the documents that it should find."""
        return self._core.call(
            api.query.queries_save.sync_detailed,
            m.CheckSaved,
            namespace,
            name,
            body=m.CheckSave.from_dict(
                _policy.body(
                    query=query,
                    expect=expect,
                    within=within,
                    mode=mode,
                    filter=filter,
                    rerank=rerank,
                    min_score=min_score,
                )
            ),
        )

    def delete(self, namespace: str, name: str) -> m.CheckRemoved:
        """Delete a saved query."""
        return self._core.call(api.query.queries_delete.sync_detailed, m.CheckRemoved, namespace, name)

    def run(self, namespace: str) -> m.CheckReport:
        """Ask all saved queries of a namespace, and say which find what they should."""
        return self._core.call(api.query.queries_run.sync_detailed, m.CheckReport, namespace)


class Memory(Resource):
    """End users' memories."""

    def search(
        self,
        *,
        end_user_id: str,
        query: str,
        limit: int | Unset | None = UNSET,
        container_tag: str | Unset = UNSET,
        created_after: int | Unset = UNSET,
        created_before: int | Unset = UNSET,
    ) -> m.MemoryResults:
        """Search the memories of one end user."""
        return self._core.call(
            api.memories.memories_search.sync_detailed,
            m.MemoryResults,
            body=m.MemoryQuery.from_dict(
                _policy.body(
                    endUserId=end_user_id,
                    query=query,
                    limit=limit,
                    containerTag=container_tag,
                    createdAfter=created_after,
                    createdBefore=created_before,
                )
            ),
        )

    def save(
        self,
        *,
        end_user_id: str,
        content: str,
        container_tag: str | Unset = UNSET,
        metadata: Mapping[str, Any] | Unset = UNSET,
        occurred_at: datetime.datetime | str | Unset | None = UNSET,
        idempotency_key: str | Unset = UNSET,
    ) -> m.MemorySavedOne:
        """Save a memory. It is given a key of its own unless it has one, to be repeatable."""
        key = _policy.idempotency_key() if isinstance(idempotency_key, Unset) else idempotency_key
        return self._core.call(
            api.memories.memories_save.sync_detailed,
            m.MemorySavedOne,
            body=m.MemorySave.from_dict(
                _policy.body(
                    endUserId=end_user_id,
                    content=content,
                    containerTag=container_tag,
                    metadata=metadata,
                    occurredAt=occurred_at,
                )
            ),
            idempotency_key=key,
        )

    def list(
        self,
        *,
        end_user_id: str,
        container_tag: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> Pager[m.Memory, m.MemoryPage]:
        """List the memories of one end user, newest first."""

        def fetch(cursor: str | Unset) -> m.MemoryPage:
            return self._core.call(
                api.memories.memories_list.sync_detailed,
                m.MemoryPage,
                end_user_id=end_user_id,
                container_tag=container_tag,
                limit=limit,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.memories, lambda page: page.next_cursor, cursor)

    def batch(
        self,
        *,
        end_user_id: str,
        memories: Sequence[m.MemoryBatchItem | Mapping[str, Any]],
        idempotency_key: str | Unset = UNSET,
    ) -> m.MemorySavedBatch:
        """Save up to 100 memories of one end user. It is given a key of its own unless it has one, to be repeatable."""
        key = _policy.idempotency_key() if isinstance(idempotency_key, Unset) else idempotency_key
        return self._core.call(
            api.memories.memories_batch.sync_detailed,
            m.MemorySavedBatch,
            body=m.MemoryBatch.from_dict(_policy.body(endUserId=end_user_id, memories=memories)),
            idempotency_key=key,
        )

    def remember(
        self,
        *,
        end_user_id: str,
        messages: Sequence[m.MemoryMessage | Mapping[str, Any]],
        container_tag: str | Unset = UNSET,
    ) -> m.MemoryRemembered:
        """Remember messages of a conversation."""
        return self._core.call(
            api.memories.memories_remember.sync_detailed,
            m.MemoryRemembered,
            body=m.MemoryRemember.from_dict(
                _policy.body(endUserId=end_user_id, messages=messages, containerTag=container_tag)
            ),
        )

    def context(
        self,
        *,
        end_user_id: str,
        query: str,
        max_tokens: int | Unset | None = UNSET,
        limit: int | Unset | None = UNSET,
        passages: int | Unset | None = UNSET,
        container_tag: str | Unset = UNSET,
        created_after: int | Unset = UNSET,
        created_before: int | Unset = UNSET,
    ) -> m.MemoryContextBlock:
        """Make a block for a prompt of what is remembered of a message."""
        return self._core.call(
            api.memories.memories_context.sync_detailed,
            m.MemoryContextBlock,
            body=m.MemoryContextQuery.from_dict(
                _policy.body(
                    endUserId=end_user_id,
                    query=query,
                    maxTokens=max_tokens,
                    limit=limit,
                    passages=passages,
                    containerTag=container_tag,
                    createdAfter=created_after,
                    createdBefore=created_before,
                )
            ),
        )

    def delete(self, *, end_user_id: str, ids: Sequence[str]) -> m.MemoryDeleted:
        """Delete memories by id."""
        return self._core.call(
            api.memories.memories_delete.sync_detailed,
            m.MemoryDeleted,
            body=m.MemoryDelete.from_dict(_policy.body(endUserId=end_user_id, ids=ids)),
        )

    def upsert(
        self,
        external_id: str,
        *,
        end_user_id: str,
        source: str,
        version: int,
        content: str,
        occurred_at: datetime.datetime | str,
        container_tag: str | Unset = UNSET,
        metadata: Mapping[str, Any] | Unset = UNSET,
        grant: str | Unset = UNSET,
    ) -> m.MemoryApplied:
        """Write a version of a source-owned memory."""
        return self._core.call(
            api.memories.memories_upsert.sync_detailed,
            m.MemoryApplied,
            external_id,
            body=m.MemoryUpsert.from_dict(
                _policy.body(
                    endUserId=end_user_id,
                    source=source,
                    version=version,
                    content=content,
                    occurredAt=occurred_at,
                    containerTag=container_tag,
                    metadata=metadata,
                )
            ),
            x_mneme_grant=grant,
        )

    def tombstone(
        self,
        external_id: str,
        *,
        end_user_id: str,
        source: str,
        version: int,
        occurred_at: datetime.datetime | Unset = UNSET,
        grant: str | Unset = UNSET,
    ) -> m.MemoryApplied:
        """Tombstone a source-owned memory."""
        return self._core.call(
            api.memories.memories_tombstone.sync_detailed,
            m.MemoryApplied,
            external_id,
            end_user_id=end_user_id,
            source=source,
            version=version,
            occurred_at=occurred_at,
            x_mneme_grant=grant,
        )

    def get(self, external_id: str, *, end_user_id: str, source: str) -> m.MemoryApplied:
        """Read a source-owned memory's record with its latest receipt."""
        return self._core.call(
            api.memories.memories_get.sync_detailed,
            m.MemoryApplied,
            external_id,
            end_user_id=end_user_id,
            source=source,
        )

    def status(self) -> m.MemoryStatus:
        """Check the integration."""
        return self._core.call(api.status.memories_status.sync_detailed, m.MemoryStatus)

    def recall(
        self,
        *,
        end_user_id: str,
        query: str,
        limit: int | Unset | None = UNSET,
        max_answer_tokens: int | Unset | None = UNSET,
        container_tag: str | Unset = UNSET,
        created_after: int | Unset = UNSET,
        created_before: int | Unset = UNSET,
    ) -> m.RecallAnswer:
        """Answer a question from the memories of one end user."""
        return self._core.call(
            api.recall.memories_recall.sync_detailed,
            m.RecallAnswer,
            body=m.RecallRequest.from_dict(
                _policy.body(
                    endUserId=end_user_id,
                    query=query,
                    limit=limit,
                    maxAnswerTokens=max_answer_tokens,
                    containerTag=container_tag,
                    createdAfter=created_after,
                    createdBefore=created_before,
                )
            ),
        )


class Grants(Resource):
    """What sources may write of an end user."""

    def create(self, *, end_user_id: str, source: str, secrets: Mapping[str, Any] | Unset = UNSET) -> m.MemoryGranted:
        """Let a source system write an end user's memories."""
        return self._core.call(
            api.end_users.grants_create.sync_detailed,
            m.MemoryGranted,
            repeatable=False,
            body=m.MemoryCreateGrant.from_dict(_policy.body(endUserId=end_user_id, source=source, secrets=secrets)),
        )

    def list(self, *, end_user_id: str) -> m.MemoryGrants:
        """List the grants of an end user, newest first."""
        return self._core.call(api.end_users.grants_list.sync_detailed, m.MemoryGrants, end_user_id=end_user_id)

    def revoke(self, id: str) -> m.MemoryGranted:
        """Revoke a grant."""
        return self._core.call(api.end_users.grants_revoke.sync_detailed, m.MemoryGranted, id)


class Users(Resource):
    """End users as a whole."""

    def erase(self, end_user_id: str) -> m.MemoryErasedUser:
        """Erase an end user for good."""
        return self._core.call(api.end_users.users_erase.sync_detailed, m.MemoryErasedUser, end_user_id)


class Models(Resource):
    """The models of the server."""

    def list(self, *, kind: Literal["embedding", "sparse", "rerank", "answer"] | Unset = UNSET) -> m.ModelList:
        """List the models."""
        return self._core.call(api.models.models_list.sync_detailed, m.ModelList, kind=kind)

    def get(self, id: str) -> m.Model:
        """Read a model."""
        return self._core.call(api.models.models_get.sync_detailed, m.Model, id)


class SourceItems(Resource):
    """Items of a source."""

    def list(
        self,
        id: str,
        *,
        status: Literal["active", "failed"] | Unset = UNSET,
        prefix: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> Pager[m.SourceItem, m.SourceItems]:
        """List what is kept of a source's items."""

        def fetch(cursor: str | Unset) -> m.SourceItems:
            return self._core.call(
                api.sources.sources_items_list.sync_detailed,
                m.SourceItems,
                id,
                status=status,
                prefix=prefix,
                limit=limit,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.items, lambda page: page.next_cursor, cursor)

    def push(
        self, id: str, *, items: Sequence[m.SourcePushItem | Mapping[str, Any]], run_id: str | Unset = UNSET
    ) -> m.SourcePushed:
        """Bring items of a source of kind push."""
        return self._core.call(
            api.sources.sources_items_push.sync_detailed,
            m.SourcePushed,
            id,
            body=m.SourcePushItems.from_dict(_policy.body(items=items, run_id=run_id)),
        )


class SourceRuns(Resource):
    """Runs of a source."""

    def list(
        self, id: str, *, limit: int | Unset = UNSET, cursor: str | Unset = UNSET
    ) -> Pager[m.SourceRun, m.SourceRuns]:
        """List a source's runs."""

        def fetch(cursor: str | Unset) -> m.SourceRuns:
            return self._core.call(
                api.sources.sources_runs_list.sync_detailed, m.SourceRuns, id, limit=limit, cursor=cursor
            )

        return Pager(fetch, lambda page: page.runs, lambda page: page.next_cursor, cursor)

    def begin(self, id: str, *, mode: Literal["full"] | Unset | None = UNSET) -> m.SourceBegun:
        """Begin to bring everything that a source of kind push has."""
        return self._core.call(
            api.sources.sources_runs_begin.sync_detailed,
            m.SourceBegun,
            id,
            repeatable=False,
            body=m.SourceBeginRun.from_dict(_policy.body(mode=mode)),
        )

    def get(self, id: str, run: str) -> m.SourceRun:
        """Read a run."""
        return self._core.call(api.sources.sources_runs_get.sync_detailed, m.SourceRun, id, run)

    def items(
        self,
        id: str,
        run: str,
        *,
        status: Literal["created", "updated", "deleted", "withheld", "failed", "skipped"] | Unset = UNSET,
        limit: int | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> Pager[m.SourceRunItem, m.SourceRunItems]:
        """List what a run did with items that did not stay as they were."""

        def fetch(cursor: str | Unset) -> m.SourceRunItems:
            return self._core.call(
                api.sources.sources_runs_items.sync_detailed,
                m.SourceRunItems,
                id,
                run,
                status=status,
                limit=limit,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.items, lambda page: page.next_cursor, cursor)

    def cancel(self, id: str, run: str) -> m.SourceRun:
        """Cancel a run."""
        return self._core.call(api.sources.sources_runs_cancel.sync_detailed, m.SourceRun, id, run)

    def retry_failed(self, id: str, run: str) -> m.SourceRun:
        """Try a run's failed items again."""
        return self._core.call(
            api.sources.sources_runs_retry_failed.sync_detailed, m.SourceRun, id, run, repeatable=False
        )

    def complete(self, id: str, run: str, *, snapshot: bool | Unset = UNSET) -> m.SourceRun:
        """End a run of a source of kind push."""
        return self._core.call(
            api.sources.sources_runs_complete.sync_detailed,
            m.SourceRun,
            id,
            run,
            repeatable=False,
            body=m.SourceCompleteRun.from_dict(_policy.body(snapshot=snapshot)),
        )


class Sources(Resource):
    """Sources, which keep a namespace in step."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.items = SourceItems(core)
        self.runs = SourceRuns(core)

    def kinds(self) -> m.SourceKinds:
        """List the kinds of sources."""
        return self._core.call(api.sources.source_kinds_list.sync_detailed, m.SourceKinds)

    def create(
        self,
        *,
        name: str,
        kind: str,
        namespace: str,
        config: Any | Unset = UNSET,
        secrets: Mapping[str, Any] | Unset = UNSET,
        schedule: m.SourceSchedule | Mapping[str, Any] | Unset | None = UNSET,
        deletions: Literal["propagate", "keep"] | Unset | None = UNSET,
        enabled: bool | Unset | None = UNSET,
        start: bool | Unset | None = UNSET,
    ) -> m.Source:
        """Connect a source."""
        return self._core.call(
            api.sources.sources_create.sync_detailed,
            m.Source,
            repeatable=False,
            body=m.CreateSource.from_dict(
                _policy.body(
                    name=name,
                    kind=kind,
                    namespace=namespace,
                    config=config,
                    secrets=secrets,
                    schedule=schedule,
                    deletions=deletions,
                    enabled=enabled,
                    start=start,
                )
            ),
        )

    def list(
        self,
        *,
        limit: int | Unset = UNSET,
        namespace: str | Unset = UNSET,
        kind: str | Unset = UNSET,
        state: Literal["idle", "syncing", "paused", "error", "deleting"] | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> Pager[m.Source, m.Sources]:
        """List sources."""

        def fetch(cursor: str | Unset) -> m.Sources:
            return self._core.call(
                api.sources.sources_list.sync_detailed,
                m.Sources,
                limit=limit,
                namespace=namespace,
                kind=kind,
                state=state,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.sources, lambda page: page.next_cursor, cursor)

    def check(
        self,
        *,
        kind: str,
        config: Any | Unset = UNSET,
        secrets: Mapping[str, Any] | Unset = UNSET,
        source_id: str | Unset = UNSET,
    ) -> m.SourceChecked:
        """Try a source's settings."""
        return self._core.call(
            api.sources.sources_check.sync_detailed,
            m.SourceChecked,
            body=m.CheckSource.from_dict(_policy.body(kind=kind, config=config, secrets=secrets, source_id=source_id)),
        )

    def get(self, id: str) -> m.Source:
        """Read a source."""
        return self._core.call(api.sources.sources_get.sync_detailed, m.Source, id)

    def update(
        self,
        id: str,
        *,
        name: str | Unset | None = UNSET,
        config: Any | Unset = UNSET,
        secrets: Mapping[str, Any] | Unset = UNSET,
        schedule: m.SourceSchedule | Mapping[str, Any] | Unset | None = UNSET,
        deletions: Literal["propagate", "keep"] | Unset | None = UNSET,
        enabled: bool | Unset | None = UNSET,
    ) -> m.Source:
        """Change a source."""
        return self._core.call(
            api.sources.sources_update.sync_detailed,
            m.Source,
            id,
            body=m.UpdateSource.from_dict(
                _policy.body(
                    name=name, config=config, secrets=secrets, schedule=schedule, deletions=deletions, enabled=enabled
                )
            ),
        )

    def delete(self, id: str, *, documents: Literal["keep", "delete"] | Unset = UNSET) -> m.Source:
        """Disconnect a source."""
        return self._core.call(api.sources.sources_delete.sync_detailed, m.Source, id, documents=documents)

    def sync(self, id: str, *, full: bool | Unset = UNSET) -> m.SourceRun:
        """Start a run."""
        return self._core.call(
            api.sources.sources_sync.sync_detailed,
            m.SourceRun,
            id,
            repeatable=False,
            body=m.SyncSource.from_dict(_policy.body(full=full)),
        )

    def apply_deletions(self, id: str, *, max: int) -> m.SourceRun:
        """Apply withheld deletions."""
        return self._core.call(
            api.sources.sources_apply_deletions.sync_detailed,
            m.SourceRun,
            id,
            repeatable=False,
            body=m.SourceApplyDeletions.from_dict(_policy.body(max=max)),
        )


class Events(Resource):
    """What has happened."""

    def kinds(self) -> m.EventKindList:
        """List the kinds of events."""
        return self._core.call(api.events.event_kinds_list.sync_detailed, m.EventKindList)

    def list(
        self,
        *,
        after: str | Unset = UNSET,
        kinds: Sequence[str] | Unset = UNSET,
        limit: int | Unset = UNSET,
        wait: int | Unset = UNSET,
    ) -> m.EventPage:
        """Read what has happened."""
        return self._core.call(
            api.events.events_list.sync_detailed, m.EventPage, after=after, kinds=kinds, limit=limit, wait=wait
        )

    def get(self, id: str) -> m.EventTold:
        """Read an event with its deliveries."""
        return self._core.call(api.events.events_get.sync_detailed, m.EventTold, id)

    def follow(
        self,
        *,
        after: str = "latest",
        kinds: Sequence[str] | Unset = UNSET,
        wait: int = 30,
        ignore_missed: bool = False,
    ) -> Iterator[m.Event]:
        """Events as they happen, for ever: an answer is awaited until there is one.

        MissedEventsError says that events behind ``after`` are forgotten, unless ``ignore_missed``.
        """
        cursor = after
        while True:
            page = self._core.longer(wait).call(
                api.events.events_list.sync_detailed, m.EventPage, after=cursor, kinds=kinds, limit=1000, wait=wait
            )
            if page.missed and not ignore_missed:
                raise errors.MissedEventsError(page.next_cursor)
            for event in page.events:
                yield event
            cursor = page.next_cursor


class WebhookDeliveries(Resource):
    """Deliveries of a webhook."""

    def list(
        self,
        id: str,
        *,
        status: Literal["pending", "succeeded", "failed", "dropped"] | Unset = UNSET,
        limit: int | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> Pager[m.WebhookDelivery, m.WebhookDeliveries]:
        """List the deliveries of a webhook."""

        def fetch(cursor: str | Unset) -> m.WebhookDeliveries:
            return self._core.call(
                api.webhooks.webhooks_deliveries_list.sync_detailed,
                m.WebhookDeliveries,
                id,
                status=status,
                limit=limit,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.deliveries, lambda page: page.next_cursor, cursor)

    def get(self, id: str, delivery_id: str) -> m.WebhookDelivery:
        """Read a delivery with its attempts."""
        return self._core.call(api.webhooks.webhooks_deliveries_get.sync_detailed, m.WebhookDelivery, id, delivery_id)

    def redeliver(self, id: str, delivery_id: str) -> m.WebhookDelivery:
        """Send an event again."""
        return self._core.call(
            api.webhooks.webhooks_deliveries_redeliver.sync_detailed,
            m.WebhookDelivery,
            id,
            delivery_id,
            repeatable=False,
        )


class Webhooks(Resource):
    """Endpoints that events are sent to."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.deliveries = WebhookDeliveries(core)

    def create(
        self,
        *,
        url: str,
        kinds: Sequence[str] | Unset = UNSET,
        description: str | Unset | None = UNSET,
        signature: Literal["v1", "v1a"] | Unset | None = UNSET,
        enabled: bool | Unset | None = UNSET,
    ) -> m.WebhookMade:
        """Make a webhook."""
        return self._core.call(
            api.webhooks.webhooks_create.sync_detailed,
            m.WebhookMade,
            repeatable=False,
            body=m.WebhookCreate.from_dict(
                _policy.body(url=url, kinds=kinds, description=description, signature=signature, enabled=enabled)
            ),
        )

    def list(self) -> m.Webhooks:
        """List webhooks."""
        return self._core.call(api.webhooks.webhooks_list.sync_detailed, m.Webhooks)

    def get(self, id: str) -> m.Webhook:
        """Read a webhook."""
        return self._core.call(api.webhooks.webhooks_get.sync_detailed, m.Webhook, id)

    def change(
        self,
        id: str,
        *,
        url: str | Unset | None = UNSET,
        kinds: Sequence[str] | Unset | None = UNSET,
        description: str | Unset | None = UNSET,
        enabled: bool | Unset | None = UNSET,
    ) -> m.Webhook:
        """Change a webhook."""
        return self._core.call(
            api.webhooks.webhooks_change.sync_detailed,
            m.Webhook,
            id,
            body=m.WebhookChange.from_dict(
                _policy.body(url=url, kinds=kinds, description=description, enabled=enabled)
            ),
        )

    def delete(self, id: str) -> m.WebhookDeleted:
        """Delete a webhook."""
        return self._core.call(api.webhooks.webhooks_delete.sync_detailed, m.WebhookDeleted, id)

    def test(self, id: str) -> m.WebhookTested:
        """Send a test to a webhook."""
        return self._core.call(api.webhooks.webhooks_test.sync_detailed, m.WebhookTested, id, repeatable=False)

    def rotate(self, id: str, *, overlap: str | Unset = UNSET, force: bool | Unset = UNSET) -> m.WebhookMade:
        """Replace the secret of a webhook."""
        return self._core.call(
            api.webhooks.webhooks_rotate.sync_detailed,
            m.WebhookMade,
            id,
            repeatable=False,
            body=m.WebhookRotate.from_dict(_policy.body(overlap=overlap, force=force)),
        )

    def recover(
        self, id: str, *, since: datetime.datetime | str, until: datetime.datetime | str | Unset | None = UNSET
    ) -> m.WebhookRecovered:
        """Send what a webhook has not taken."""
        return self._core.call(
            api.webhooks.webhooks_recover.sync_detailed,
            m.WebhookRecovered,
            id,
            body=m.WebhookRecover.from_dict(_policy.body(since=since, until=until)),
        )


class AdminOrganizations(Resource):
    """Organizations."""

    def create(self, *, name: str) -> m.AdminOrganization:
        """Make an organization."""
        return self._core.call(
            api.admin_organizations.admin_organizations_create.sync_detailed,
            m.AdminOrganization,
            repeatable=False,
            body=m.AdminCreateOrganization.from_dict(_policy.body(name=name)),
        )

    def list(
        self, *, limit: int | Unset = UNSET, cursor: str | Unset = UNSET
    ) -> Pager[m.AdminOrganization, m.AdminOrganizations]:
        """List organizations."""

        def fetch(cursor: str | Unset) -> m.AdminOrganizations:
            return self._core.call(
                api.admin_organizations.admin_organizations_list.sync_detailed,
                m.AdminOrganizations,
                limit=limit,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.organizations, lambda page: page.next_cursor, cursor)

    def get(self, org: str) -> m.AdminOrganization:
        """Read an organization."""
        return self._core.call(api.admin_organizations.admin_organizations_get.sync_detailed, m.AdminOrganization, org)

    def change(
        self, org: str, *, name: str | Unset | None = UNSET, suspended: bool | Unset | None = UNSET
    ) -> m.AdminOrganization:
        """Rename, suspend or resume an organization."""
        return self._core.call(
            api.admin_organizations.admin_organizations_change.sync_detailed,
            m.AdminOrganization,
            org,
            body=m.AdminChangeOrganization.from_dict(_policy.body(name=name, suspended=suspended)),
        )

    def delete(self, org: str, *, name: str) -> m.AdminOrganizationDeletion:
        """Delete an organization with everything in it."""
        return self._core.call(
            api.admin_organizations.admin_organizations_delete.sync_detailed,
            m.AdminOrganizationDeletion,
            org,
            name=name,
        )


class AdminKeys(Resource):
    """Keys of an organization."""

    def create(
        self,
        org: str,
        *,
        kind: Literal["service", "admin", "team", "organization"] | Unset | None = UNSET,
        name: str | Unset = UNSET,
        read_only: bool | Unset = UNSET,
        namespace: str | Unset | None = UNSET,
        source: str | Unset | None = UNSET,
        default_namespace: str | Unset | None = UNSET,
        limits: Mapping[str, Any] | Unset = UNSET,
        expires_at: datetime.datetime | str | Unset | None = UNSET,
    ) -> m.AdminIssuedKey:
        """Make a key; its secret is in this answer alone."""
        return self._core.call(
            api.admin_keys.admin_keys_create.sync_detailed,
            m.AdminIssuedKey,
            org,
            repeatable=False,
            body=m.AdminCreateKey.from_dict(
                _policy.body(
                    kind=kind,
                    name=name,
                    read_only=read_only,
                    namespace=namespace,
                    source=source,
                    default_namespace=default_namespace,
                    limits=limits,
                    expires_at=expires_at,
                )
            ),
        )

    def list(
        self, org: str, *, limit: int | Unset = UNSET, cursor: str | Unset = UNSET
    ) -> Pager[m.AdminKey, m.AdminKeys]:
        """List an organization's keys."""

        def fetch(cursor: str | Unset) -> m.AdminKeys:
            return self._core.call(
                api.admin_keys.admin_keys_list.sync_detailed, m.AdminKeys, org, limit=limit, cursor=cursor
            )

        return Pager(fetch, lambda page: page.keys, lambda page: page.next_cursor, cursor)

    def get(self, org: str, id: str) -> m.AdminKey:
        """Read a key's description."""
        return self._core.call(api.admin_keys.admin_keys_get.sync_detailed, m.AdminKey, org, id)

    def change(
        self,
        org: str,
        id: str,
        *,
        name: str | Unset | None = UNSET,
        read_only: bool | Unset | None = UNSET,
        default_namespace: str | Unset | None = UNSET,
        limits: Mapping[str, Any] | Unset = UNSET,
    ) -> m.AdminKey:
        """Change a key's name, limits, default namespace or read-only state."""
        return self._core.call(
            api.admin_keys.admin_keys_change.sync_detailed,
            m.AdminKey,
            org,
            id,
            body=m.AdminChangeKey.from_dict(
                _policy.body(name=name, read_only=read_only, default_namespace=default_namespace, limits=limits)
            ),
        )

    def revoke(self, org: str, id: str) -> m.AdminRevoked:
        """Revoke a key, within a second everywhere."""
        return self._core.call(api.admin_keys.admin_keys_revoke.sync_detailed, m.AdminRevoked, org, id)

    def rotate(
        self,
        org: str,
        id: str,
        *,
        overlap_seconds: int | Unset | None = UNSET,
        expires_at: datetime.datetime | str | Unset | None = UNSET,
    ) -> m.AdminIssuedKey:
        """Make a new secret with a key's rights."""
        return self._core.call(
            api.admin_keys.admin_keys_rotate.sync_detailed,
            m.AdminIssuedKey,
            org,
            id,
            repeatable=False,
            body=m.AdminRotateKey.from_dict(_policy.body(overlap_seconds=overlap_seconds, expires_at=expires_at)),
        )


class AdminIntegrationKeys(Resource):
    """Keys of an integration."""

    def create(
        self,
        org: str,
        integration: str,
        *,
        kind: Literal["integration", "personal"] | Unset | None = UNSET,
        name: str | Unset = UNSET,
        scopes: Sequence[Literal["memories:read", "memories:write", "recall:read", "users:erase", "status:read"]]
        | Unset = UNSET,
        end_user_id: str | Unset | None = UNSET,
        limits: Mapping[str, Any] | Unset = UNSET,
        expires_at: datetime.datetime | str | Unset | None = UNSET,
    ) -> m.AdminIssuedKey:
        """Make a key of an integration; its secret is in this answer alone."""
        return self._core.call(
            api.admin_integrations.admin_integrations_keys_create.sync_detailed,
            m.AdminIssuedKey,
            org,
            integration,
            repeatable=False,
            body=m.AdminCreateIntegrationKey.from_dict(
                _policy.body(
                    kind=kind, name=name, scopes=scopes, end_user_id=end_user_id, limits=limits, expires_at=expires_at
                )
            ),
        )

    def list(
        self, org: str, integration: str, *, limit: int | Unset = UNSET, cursor: str | Unset = UNSET
    ) -> Pager[m.AdminKey, m.AdminKeys]:
        """List an integration's keys."""

        def fetch(cursor: str | Unset) -> m.AdminKeys:
            return self._core.call(
                api.admin_integrations.admin_integrations_keys_list.sync_detailed,
                m.AdminKeys,
                org,
                integration,
                limit=limit,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.keys, lambda page: page.next_cursor, cursor)


class AdminIntegrations(Resource):
    """Integrations, which keep memories."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.keys = AdminIntegrationKeys(core)

    def create(
        self,
        org: str,
        *,
        name: str,
        quotas: m.AdminQuotaChange | Mapping[str, Any] | Unset | None = UNSET,
        grants_required: bool | Unset | None = UNSET,
    ) -> m.AdminIntegration:
        """Make an integration."""
        return self._core.call(
            api.admin_integrations.admin_integrations_create.sync_detailed,
            m.AdminIntegration,
            org,
            repeatable=False,
            body=m.AdminCreateIntegration.from_dict(
                _policy.body(name=name, quotas=quotas, grants_required=grants_required)
            ),
        )

    def list(
        self, org: str, *, limit: int | Unset = UNSET, cursor: str | Unset = UNSET
    ) -> Pager[m.AdminIntegration, m.AdminIntegrations]:
        """List an organization's integrations."""

        def fetch(cursor: str | Unset) -> m.AdminIntegrations:
            return self._core.call(
                api.admin_integrations.admin_integrations_list.sync_detailed,
                m.AdminIntegrations,
                org,
                limit=limit,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.integrations, lambda page: page.next_cursor, cursor)

    def get(self, org: str, integration: str) -> m.AdminIntegration:
        """Read an integration."""
        return self._core.call(
            api.admin_integrations.admin_integrations_get.sync_detailed, m.AdminIntegration, org, integration
        )

    def change(
        self,
        org: str,
        integration: str,
        *,
        name: str | Unset | None = UNSET,
        quotas: m.AdminQuotaChange | Mapping[str, Any] | Unset | None = UNSET,
        grants_required: bool | Unset | None = UNSET,
    ) -> m.AdminIntegration:
        """Change an integration's name or quotas."""
        return self._core.call(
            api.admin_integrations.admin_integrations_change.sync_detailed,
            m.AdminIntegration,
            org,
            integration,
            body=m.AdminChangeIntegration.from_dict(
                _policy.body(name=name, quotas=quotas, grants_required=grants_required)
            ),
        )


class AdminNamespaces(Resource):
    """Namespaces of an organization."""

    def list(
        self, org: str, *, limit: int | Unset = UNSET, cursor: str | Unset = UNSET
    ) -> Pager[m.AdminNamespace, m.AdminNamespaces]:
        """List namespaces, and whether their vectors are of the configured models."""

        def fetch(cursor: str | Unset) -> m.AdminNamespaces:
            return self._core.call(
                api.admin_namespaces.admin_namespaces_list.sync_detailed,
                m.AdminNamespaces,
                org,
                limit=limit,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.namespaces, lambda page: page.next_cursor, cursor)

    def reindex(
        self,
        org: str,
        namespace: str,
        *,
        force: bool | Unset = UNSET,
        hold: bool | Unset = UNSET,
        back: bool | Unset = UNSET,
        queries: Sequence[str] | Unset = UNSET,
        min_overlap: float | Unset = UNSET,
        embedding_model: str | Unset = UNSET,
    ) -> m.AdminReindexing:
        """Recompute a namespace's vectors with the configured models, or another embedding model of its own."""
        return self._core.call(
            api.admin_namespaces.admin_namespaces_reindex.sync_detailed,
            m.AdminReindexing,
            org,
            namespace,
            repeatable=False,
            body=m.AdminReindex.from_dict(
                _policy.body(
                    force=force,
                    hold=hold,
                    back=back,
                    queries=queries,
                    min_overlap=min_overlap,
                    embedding_model=embedding_model,
                )
            ),
        )

    def reindexing(self, org: str, namespace: str) -> m.AdminReindexing:
        """Say how far the reindexing of a namespace is."""
        return self._core.call(
            api.admin_namespaces.admin_namespaces_reindexing.sync_detailed, m.AdminReindexing, org, namespace
        )

    def discard(self, org: str, namespace: str) -> m.AdminDiscarded:
        """Discard what is kept of a namespace since it was reindexed, or what is held."""
        return self._core.call(
            api.admin_namespaces.admin_namespaces_discard.sync_detailed, m.AdminDiscarded, org, namespace
        )

    def export(self, org: str, namespace: str, *, vectors: bool = True) -> Iterator[Any]:
        """The objects of an export of a namespace, as they come."""
        return self._core.lines(
            api.admin_namespaces.admin_namespaces_export._get_kwargs(org, namespace, vectors=vectors)
        )

    def import_(
        self,
        org: str,
        namespace: str,
        content: bytes,
        *,
        on_conflict: Literal["fail", "skip", "replace"] = "fail",
        embedding_model: str | Unset = UNSET,
    ) -> m.AdminImportedNamespace:
        """Take in what an export wrote."""
        given = api.admin_namespaces.admin_namespaces_import._get_kwargs(
            org, namespace, body=_policy.NO_FILE, on_conflict=on_conflict, embedding_model=embedding_model
        )
        return m.AdminImportedNamespace.from_dict(self._core.json({**given, "content": content}))


class AdminEndUsers(Resource):
    """End users of integrations."""

    def list(
        self,
        org: str,
        *,
        limit: int | Unset = UNSET,
        query: str | Unset = UNSET,
        integration: str | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> Pager[m.AdminEndUser, m.AdminEndUsers]:
        """List end users with what is kept of them."""

        def fetch(cursor: str | Unset) -> m.AdminEndUsers:
            return self._core.call(
                api.admin_end_users.admin_end_users_list.sync_detailed,
                m.AdminEndUsers,
                org,
                limit=limit,
                query=query,
                integration=integration,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.end_users, lambda page: page.next_cursor, cursor)

    def erase(self, id: str, *, integration: str, organization: str | Unset = UNSET) -> m.AdminCertificate:
        """Erase an end user for good and answer the certificate."""
        return self._core.call(
            api.admin_end_users.admin_end_users_erase.sync_detailed,
            m.AdminCertificate,
            id,
            organization=organization,
            integration=integration,
        )

    def reindex(
        self, id: str, *, integration: str, force: bool | Unset = UNSET, organization: str | Unset = UNSET
    ) -> m.AdminReindexing:
        """Recompute the vectors of an end user's memories with the configured models."""
        return self._core.call(
            api.admin_end_users.admin_end_users_reindex.sync_detailed,
            m.AdminReindexing,
            id,
            repeatable=False,
            body=m.AdminReindexUser.from_dict(_policy.body(force=force)),
            organization=organization,
            integration=integration,
        )

    def reindexing(self, id: str, *, integration: str, organization: str | Unset = UNSET) -> m.AdminReindexing:
        """Say how far the reindexing of an end user's memories is."""
        return self._core.call(
            api.admin_end_users.admin_end_users_reindexing.sync_detailed,
            m.AdminReindexing,
            id,
            organization=organization,
            integration=integration,
        )

    def export(self, id: str, *, organization: str | Unset = UNSET, integration: str) -> Iterator[Any]:
        """All that is kept of an end user, object by object as it comes."""
        request = api.admin_end_users.admin_end_users_export._get_kwargs(
            id, organization=organization, integration=integration
        )
        return self._core.lines(request)


class AdminJobs(Resource):
    """Background work."""

    def list(
        self,
        *,
        limit: int | Unset = UNSET,
        organization: str | Unset = UNSET,
        kind: str | Unset = UNSET,
        status: Literal["queued", "running", "succeeded", "failed", "cancelled"] | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> Pager[m.AdminJob, m.AdminJobs]:
        """List background jobs, newest first."""

        def fetch(cursor: str | Unset) -> m.AdminJobs:
            return self._core.call(
                api.admin_jobs.admin_jobs_list.sync_detailed,
                m.AdminJobs,
                limit=limit,
                organization=organization,
                kind=kind,
                status=status,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.jobs, lambda page: page.next_cursor, cursor)

    def get(self, job: str) -> m.AdminJob:
        """Read how far a job is."""
        return self._core.call(api.admin_jobs.admin_jobs_get.sync_detailed, m.AdminJob, job)

    def cancel(self, job: str) -> m.AdminJob:
        """End a job early."""
        return self._core.call(api.admin_jobs.admin_jobs_cancel.sync_detailed, m.AdminJob, job)


class AdminSettings(Resource):
    """The configuration."""

    def get(self) -> m.AdminConfiguration:
        """Read the server's configuration."""
        return self._core.call(api.admin_settings.admin_settings_get.sync_detailed, m.AdminConfiguration)


class AdminMembers(Resource):
    """People with a role in an organization."""

    def invite(self, org: str, *, email: str, role: Literal["owner", "admin", "viewer"]) -> m.MemberInvited:
        """Invite a person; the code is in this answer alone."""
        return self._core.call(
            api.admin_members.admin_members_invite.sync_detailed,
            m.MemberInvited,
            org,
            repeatable=False,
            body=m.MemberInvite.from_dict(_policy.body(email=email, role=role)),
        )

    def list(self, org: str, *, limit: int | Unset = UNSET, cursor: str | Unset = UNSET) -> Pager[m.Member, m.Members]:
        """List the members of an organization."""

        def fetch(cursor: str | Unset) -> m.Members:
            return self._core.call(
                api.admin_members.admin_members_list.sync_detailed, m.Members, org, limit=limit, cursor=cursor
            )

        return Pager(fetch, lambda page: page.members, lambda page: page.next_cursor, cursor)

    def get(self, org: str, member: str) -> m.Member:
        """Read a member."""
        return self._core.call(api.admin_members.admin_members_get.sync_detailed, m.Member, org, member)

    def change(
        self,
        org: str,
        member: str,
        *,
        role: Literal["owner", "admin", "viewer"] | Unset | None = UNSET,
        disabled: bool | Unset | None = UNSET,
        has_account: bool | Unset | None = UNSET,
    ) -> m.Member:
        """Give a member another role, take signing in from one, or unbind an account."""
        return self._core.call(
            api.admin_members.admin_members_change.sync_detailed,
            m.Member,
            org,
            member,
            body=m.MemberChange.from_dict(_policy.body(role=role, disabled=disabled, has_account=has_account)),
        )

    def remove(self, org: str, member: str) -> m.MemberRemoved:
        """Remove a member, whose sessions end at once."""
        return self._core.call(api.admin_members.admin_members_remove.sync_detailed, m.MemberRemoved, org, member)

    def invite_again(self, org: str, member: str) -> m.MemberInvited:
        """Make another invitation; the code is in this answer alone."""
        return self._core.call(
            api.admin_members.admin_members_invite_again.sync_detailed,
            m.MemberInvited,
            org,
            member,
            repeatable=False,
        )


class AdminAudit(Resource):
    """Who did what."""

    def list(
        self,
        *,
        limit: int | Unset = UNSET,
        organization: str | Unset = UNSET,
        actor: Literal["key", "member", "anonymous", "cli", "system"] | Unset = UNSET,
        key_id: str | Unset = UNSET,
        action: str | Unset = UNSET,
        target: str | Unset = UNSET,
        end_user_id: str | Unset = UNSET,
        request_id: str | Unset = UNSET,
        since: datetime.datetime | Unset = UNSET,
        until: datetime.datetime | Unset = UNSET,
        refused: bool | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> Pager[m.AuditRecord, m.AuditRecords]:
        """List what was done, newest first."""

        def fetch(cursor: str | Unset) -> m.AuditRecords:
            return self._core.call(
                api.admin_audit.admin_audit_list.sync_detailed,
                m.AuditRecords,
                limit=limit,
                organization=organization,
                actor=actor,
                key_id=key_id,
                action=action,
                target=target,
                end_user_id=end_user_id,
                request_id=request_id,
                since=since,
                until=until,
                refused=refused,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.records, lambda page: page.next_cursor, cursor)

    def verify(self, *, known: str | Unset = UNSET) -> m.AuditVerification:
        """Verify that no record was removed, changed or put in."""
        return self._core.call(api.admin_audit.admin_audit_verify.sync_detailed, m.AuditVerification, known=known)

    def export(
        self,
        *,
        organization: str | Unset = UNSET,
        actor: Literal["key", "member", "anonymous", "cli", "system"] | Unset = UNSET,
        key_id: str | Unset = UNSET,
        action: str | Unset = UNSET,
        target: str | Unset = UNSET,
        end_user_id: str | Unset = UNSET,
        request_id: str | Unset = UNSET,
        since: datetime.datetime | Unset = UNSET,
        until: datetime.datetime | Unset = UNSET,
        refused: bool | Unset = UNSET,
    ) -> Iterator[Any]:
        """The records, oldest first, all of them as they come."""
        request = api.admin_audit.admin_audit_export._get_kwargs(
            organization=organization,
            actor=actor,
            key_id=key_id,
            action=action,
            target=target,
            end_user_id=end_user_id,
            request_id=request_id,
            since=since,
            until=until,
            refused=refused,
        )
        return self._core.lines(request)

    def export_csv(
        self,
        *,
        organization: str | Unset = UNSET,
        actor: Literal["key", "member", "anonymous", "cli", "system"] | Unset = UNSET,
        key_id: str | Unset = UNSET,
        action: str | Unset = UNSET,
        target: str | Unset = UNSET,
        end_user_id: str | Unset = UNSET,
        request_id: str | Unset = UNSET,
        since: datetime.datetime | Unset = UNSET,
        until: datetime.datetime | Unset = UNSET,
        refused: bool | Unset = UNSET,
    ) -> str:
        """The same, as CSV."""
        return self._core.text(
            api.admin_audit.admin_audit_export_csv.sync_detailed,
            organization=organization,
            actor=actor,
            key_id=key_id,
            action=action,
            target=target,
            end_user_id=end_user_id,
            request_id=request_id,
            since=since,
            until=until,
            refused=refused,
        )


class AdminUsage(Resource):
    """What was done on whose account."""

    def list(
        self,
        *,
        limit: int | Unset = UNSET,
        organization: str | Unset = UNSET,
        namespace: str | Unset = UNSET,
        integration_id: str | Unset = UNSET,
        key_id: str | Unset = UNSET,
        from_: datetime.datetime | Unset = UNSET,
        to: datetime.datetime | Unset = UNSET,
        by: Literal["hour", "day", "total"] | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> Pager[m.UsageRow, m.UsageRows]:
        """List what was done, by namespace or integration and key."""

        def fetch(cursor: str | Unset) -> m.UsageRows:
            return self._core.call(
                api.admin_usage.admin_usage_list.sync_detailed,
                m.UsageRows,
                limit=limit,
                organization=organization,
                namespace=namespace,
                integration_id=integration_id,
                key_id=key_id,
                from_=from_,
                to=to,
                by=by,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.usage, lambda page: page.next_cursor, cursor)

    def bytes(
        self,
        *,
        limit: int | Unset = UNSET,
        organization: str | Unset = UNSET,
        namespace: str | Unset = UNSET,
        integration_id: str | Unset = UNSET,
        at: datetime.datetime | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> Pager[m.UsageKept, m.UsageAllKept]:
        """List how much text is kept, by namespace and integration."""

        def fetch(cursor: str | Unset) -> m.UsageAllKept:
            return self._core.call(
                api.admin_usage.admin_usage_bytes.sync_detailed,
                m.UsageAllKept,
                limit=limit,
                organization=organization,
                namespace=namespace,
                integration_id=integration_id,
                at=at,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.kept, lambda page: page.next_cursor, cursor)

    def export_csv(
        self,
        *,
        organization: str | Unset = UNSET,
        namespace: str | Unset = UNSET,
        integration_id: str | Unset = UNSET,
        key_id: str | Unset = UNSET,
        from_: datetime.datetime | Unset = UNSET,
        to: datetime.datetime | Unset = UNSET,
        by: Literal["hour", "day", "total"] | Unset = UNSET,
    ) -> str:
        """Usage as CSV, all of it."""
        return self._core.text(
            api.admin_usage.admin_usage_export_csv.sync_detailed,
            organization=organization,
            namespace=namespace,
            integration_id=integration_id,
            key_id=key_id,
            from_=from_,
            to=to,
            by=by,
        )


class AdminQuotas(Resource):
    """Quotas of an organization."""

    def get(self, org: str) -> m.UsageQuotas:
        """Read an organization's quotas and what is used of them."""
        return self._core.call(api.admin_usage.admin_quotas_get.sync_detailed, m.UsageQuotas, org)

    def change(
        self,
        org: str,
        *,
        bytes: int | Unset | None = UNSET,
        documents: int | Unset | None = UNSET,
        namespaces: int | Unset | None = UNSET,
        end_users: int | Unset | None = UNSET,
    ) -> m.UsageQuotas:
        """Change an organization's quotas."""
        return self._core.call(
            api.admin_usage.admin_quotas_change.sync_detailed,
            m.UsageQuotas,
            org,
            body=m.UsageChangeQuotas.from_dict(
                _policy.body(bytes=bytes, documents=documents, namespaces=namespaces, end_users=end_users)
            ),
        )


class AdminEvents(Resource):
    """Events of an organization."""

    def list(
        self,
        org: str,
        *,
        after: str | Unset = UNSET,
        kinds: Sequence[str] | Unset = UNSET,
        limit: int | Unset = UNSET,
        wait: int | Unset = UNSET,
    ) -> m.EventPage:
        """Read what has happened in an organization."""
        return self._core.call(
            api.admin_events.admin_events_list.sync_detailed,
            m.EventPage,
            org,
            after=after,
            kinds=kinds,
            limit=limit,
            wait=wait,
        )

    def get(self, org: str, id: str) -> m.EventTold:
        """Read an event of an organization."""
        return self._core.call(api.admin_events.admin_events_get.sync_detailed, m.EventTold, org, id)

    def follow(
        self,
        org: str,
        *,
        after: str = "latest",
        kinds: Sequence[str] | Unset = UNSET,
        wait: int = 30,
        ignore_missed: bool = False,
    ) -> Iterator[m.Event]:
        """Events as they happen, for ever: an answer is awaited until there is one.

        MissedEventsError says that events behind ``after`` are forgotten, unless ``ignore_missed``.
        """
        cursor = after
        while True:
            page = self._core.longer(wait).call(
                api.admin_events.admin_events_list.sync_detailed,
                m.EventPage,
                org,
                after=cursor,
                kinds=kinds,
                limit=1000,
                wait=wait,
            )
            if page.missed and not ignore_missed:
                raise errors.MissedEventsError(page.next_cursor)
            for event in page.events:
                yield event
            cursor = page.next_cursor


class AdminWebhookDeliveries(Resource):
    """Deliveries of a webhook of an organization."""

    def list(
        self,
        org: str,
        id: str,
        *,
        status: Literal["pending", "succeeded", "failed", "dropped"] | Unset = UNSET,
        limit: int | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> Pager[m.WebhookDelivery, m.WebhookDeliveries]:
        """List the deliveries of a webhook of an organization."""

        def fetch(cursor: str | Unset) -> m.WebhookDeliveries:
            return self._core.call(
                api.admin_webhooks.admin_webhooks_deliveries_list.sync_detailed,
                m.WebhookDeliveries,
                org,
                id,
                status=status,
                limit=limit,
                cursor=cursor,
            )

        return Pager(fetch, lambda page: page.deliveries, lambda page: page.next_cursor, cursor)

    def get(self, org: str, id: str, delivery_id: str) -> m.WebhookDelivery:
        """Read a delivery with its attempts of an organization."""
        return self._core.call(
            api.admin_webhooks.admin_webhooks_deliveries_get.sync_detailed, m.WebhookDelivery, org, id, delivery_id
        )

    def redeliver(self, org: str, id: str, delivery_id: str) -> m.WebhookDelivery:
        """Send an event again of an organization."""
        return self._core.call(
            api.admin_webhooks.admin_webhooks_deliveries_redeliver.sync_detailed,
            m.WebhookDelivery,
            org,
            id,
            delivery_id,
            repeatable=False,
        )


class AdminWebhooks(Resource):
    """Webhooks of an organization."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.deliveries = AdminWebhookDeliveries(core)

    def create(
        self,
        org: str,
        *,
        url: str,
        kinds: Sequence[str] | Unset = UNSET,
        description: str | Unset | None = UNSET,
        signature: Literal["v1", "v1a"] | Unset | None = UNSET,
        enabled: bool | Unset | None = UNSET,
    ) -> m.WebhookMade:
        """Make a webhook of an organization."""
        return self._core.call(
            api.admin_webhooks.admin_webhooks_create.sync_detailed,
            m.WebhookMade,
            org,
            repeatable=False,
            body=m.WebhookCreateOf.from_dict(
                _policy.body(url=url, kinds=kinds, description=description, signature=signature, enabled=enabled)
            ),
        )

    def list(self, org: str) -> m.Webhooks:
        """List webhooks of an organization."""
        return self._core.call(api.admin_webhooks.admin_webhooks_list.sync_detailed, m.Webhooks, org)

    def get(self, org: str, id: str) -> m.Webhook:
        """Read a webhook of an organization."""
        return self._core.call(api.admin_webhooks.admin_webhooks_get.sync_detailed, m.Webhook, org, id)

    def change(
        self,
        org: str,
        id: str,
        *,
        url: str | Unset | None = UNSET,
        kinds: Sequence[str] | Unset | None = UNSET,
        description: str | Unset | None = UNSET,
        enabled: bool | Unset | None = UNSET,
    ) -> m.Webhook:
        """Change a webhook of an organization."""
        return self._core.call(
            api.admin_webhooks.admin_webhooks_change.sync_detailed,
            m.Webhook,
            org,
            id,
            body=m.WebhookChangeOf.from_dict(
                _policy.body(url=url, kinds=kinds, description=description, enabled=enabled)
            ),
        )

    def delete(self, org: str, id: str) -> m.WebhookDeleted:
        """Delete a webhook of an organization."""
        return self._core.call(api.admin_webhooks.admin_webhooks_delete.sync_detailed, m.WebhookDeleted, org, id)

    def test(self, org: str, id: str) -> m.WebhookTested:
        """Send a test to a webhook of an organization."""
        return self._core.call(
            api.admin_webhooks.admin_webhooks_test.sync_detailed, m.WebhookTested, org, id, repeatable=False
        )

    def rotate(self, org: str, id: str, *, overlap: str | Unset = UNSET, force: bool | Unset = UNSET) -> m.WebhookMade:
        """Replace the secret of a webhook of an organization."""
        return self._core.call(
            api.admin_webhooks.admin_webhooks_rotate.sync_detailed,
            m.WebhookMade,
            org,
            id,
            repeatable=False,
            body=m.WebhookRotateOf.from_dict(_policy.body(overlap=overlap, force=force)),
        )

    def recover(
        self,
        org: str,
        id: str,
        *,
        since: datetime.datetime | str,
        until: datetime.datetime | str | Unset | None = UNSET,
    ) -> m.WebhookRecovered:
        """Send what a webhook has not taken of an organization."""
        return self._core.call(
            api.admin_webhooks.admin_webhooks_recover.sync_detailed,
            m.WebhookRecovered,
            org,
            id,
            body=m.WebhookRecoverOf.from_dict(_policy.body(since=since, until=until)),
        )


class Admin(Resource):
    """Administration, with an ``adm-`` key."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.organizations = AdminOrganizations(core)
        self.keys = AdminKeys(core)
        self.integrations = AdminIntegrations(core)
        self.namespaces = AdminNamespaces(core)
        self.end_users = AdminEndUsers(core)
        self.jobs = AdminJobs(core)
        self.settings = AdminSettings(core)
        self.members = AdminMembers(core)
        self.audit = AdminAudit(core)
        self.usage = AdminUsage(core)
        self.quotas = AdminQuotas(core)
        self.events = AdminEvents(core)
        self.webhooks = AdminWebhooks(core)
