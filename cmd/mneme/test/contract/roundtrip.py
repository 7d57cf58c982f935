"""A round trip through the Python client that openapi-generator made.

MNEME_URL, MNEME_SERVICE_KEY and MNEME_INTEGRATION_KEY name the server.
"""

import os

import mneme_client as m
from mneme_client.rest import ApiException

TEXT = "The lease runs until May 2027. Grüße aus 東京 🗼."


def client(variable: str) -> m.ApiClient:
    return m.ApiClient(m.Configuration(host=os.environ["MNEME_URL"], access_token=os.environ[variable]))


def refused(status: int, code: str, call) -> None:
    try:
        call()
    except ApiException as e:
        assert e.status == status and code in e.body, (e.status, e.body)
    else:
        raise AssertionError(f"{code} was not raised")


def namespaces(c: m.ApiClient) -> None:
    documents, spaces = m.DocumentsApi(c), m.NamespacesApi(c)
    lease = m.DocumentInput(id="lease", text=TEXT, metadata={"kind": m.MetadataValue("contract"), "pages": m.MetadataValue(3.0)})
    wifi = m.DocumentInput(id="wifi", text="ERR_CONN_RESET means that the access point is overloaded.")
    written = documents.documents_write("python", m.WriteDocuments(documents=[lease, wifi]))
    assert written.written == 2 and [d.id for d in written.documents] == ["lease", "wifi"], written
    assert documents.documents_write("python", m.WriteDocuments(documents=[lease])).unchanged == 1
    read = documents.documents_get("python", "lease", include=["chunks"])
    assert read.text == TEXT and read.chunk_list and read.updated_at.tzinfo is not None, read
    listed = documents.documents_list("python", limit=1)
    assert [d.id for d in listed.documents] == ["lease"] and listed.next_cursor
    assert documents.documents_list("python", limit=1, cursor=listed.next_cursor).documents[0].id == "wifi"
    found = m.QueryApi(c).namespaces_query(
        "python", m.QueryRequest(query="when can we move out?", top_k=1, rerank=m.QueryRequestRerank(True), explain=True))
    assert found.results[0].document_id == "lease" and found.score_kind == "rerank" and found.degraded == [], found
    assert found.results[0].explain.vector.rank >= 1
    ranked = m.RerankApi(c).rerank(m.RerankRequest(query="leave", documents=["the sea", "giving notice"], top_k=1))
    assert len(ranked.results) == 1 and 0 <= ranked.results[0].score <= 1
    assert "python" in [n.name for n in spaces.namespaces_list().namespaces]
    refused(404, "document_not_found", lambda: documents.documents_get("python", "absent"))
    gone = documents.documents_delete("python", m.DeleteDocuments(ids=["wifi", "absent"]))
    assert gone.deleted == 1 and gone.more is False
    assert spaces.namespaces_delete("python").deleted is True
    refused(404, "namespace_not_found", lambda: spaces.namespaces_get("python"))
    assert m.ModelsApi(c).models_list().models
    refused(503, "sources_unavailable", lambda: m.SourcesApi(c).sources_list())
    c.configuration.access_token = "sk-service-wrong"
    refused(401, "unauthorized", spaces.namespaces_list)


def memories(c: m.ApiClient) -> None:
    api = m.MemoriesApi(c)
    saved = api.memories_save(m.MemorySave(endUserId="ann", content="I am allergic to peanuts.", containerTag="health"))
    assert saved.success and saved.created and saved.memory.id
    batch = api.memories_batch(m.MemoryBatch(endUserId="ann", memories=[m.MemoryBatchItem(content="I moved to Lyon in May.")]))
    assert batch.success and batch.results[0].created
    found = api.memories_search(m.MemoryQuery(endUserId="ann", query="what must I not eat?", limit=1))
    assert "peanuts" in found.results[0].matched_content and found.results[0].container_tag == "health", found
    told = m.RecallApi(c).memories_recall(m.RecallRequest(endUserId="ann", query="what am I allergic to?"))
    assert told.success and told.citations[0].quote in "I am allergic to peanuts.", told
    assert m.StatusApi(c).memories_status().ok
    erased = m.EndUsersApi(c).users_erase("ann")
    assert erased.deleted_memories == 2, erased


namespaces(client("MNEME_SERVICE_KEY"))
memories(client("MNEME_INTEGRATION_KEY"))
print("round trip done")
