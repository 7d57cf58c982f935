"""A round through the client that openapi-python-client made.

MNEME_URL, MNEME_SERVICE_KEY and MNEME_INTEGRATION_KEY name the server.
"""

import os
from http import HTTPStatus

from mneme_client import AuthenticatedClient, models as m
from mneme_client.api.documents import documents_write
from mneme_client.api.memories import memories_save, memories_search
from mneme_client.api.query import namespaces_query
from mneme_client.api.rerank import rerank, rerank_v1, rerank_v2


def client(variable: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=os.environ["MNEME_URL"], token=os.environ[variable], timeout=120)


def namespaces(c: AuthenticatedClient) -> None:
    lease = m.DocumentInput.from_dict(
        {"id": "lease", "text": "The lease runs until May 2027.", "metadata": {"kind": "lease", "year": 2027, "tags": ["office"]}})
    phone = m.DocumentInput(id="phone", text="The phone contract may be left in May.")
    written = documents_write.sync("python", client=c, body=m.WriteDocuments(documents=[lease, phone]))
    assert isinstance(written, m.DocumentWritten) and written.written == 2, written

    def query(question: str, where: dict) -> m.QueryResult | m.Error | None:
        body = m.QueryRequest(query=question, filter_=m.MetadataFilter.from_dict(where), rerank=True)
        return namespaces_query.sync("python", client=c, body=body)

    for where in ({"kind": "lease"}, {"year": {"$in": [2027, "2026"]}}, {"$or": [{"kind": {"$eq": "none"}}, {"tags": "office"}]}):
        found = query("when may we leave?", where)
        assert isinstance(found, m.QueryResult) and [h.document_id for h in found.results] == ["lease"], (where, found)
        assert found.results[0].metadata["tags"] == ["office"] and found.degraded == [], found
    wrong = query("when?", {"year": {"$in": []}})
    assert isinstance(wrong, m.Error) and wrong.error.code == "invalid_filter" and wrong.error.request_id, wrong
    absent = namespaces_query.sync_detailed("absent", client=c, body=m.QueryRequest(query="when?"))
    assert absent.status_code == HTTPStatus.NOT_FOUND and isinstance(absent.parsed, m.Error), absent
    assert absent.parsed.error.code == "namespace_not_found", absent

    texts = ["The sea is blue.", "Notice is given three months before one leaves."]
    ranked = rerank.sync(client=c, body=m.RerankRequest(query="when may we leave?", documents=texts, top_k=1))
    assert isinstance(ranked, m.RerankResult) and [r.index for r in ranked.results] == [1], ranked
    alias = m.RerankAliasRequest(query="when may we leave?", documents=list(texts), top_n=1, truncation=True, return_embeddings=False)
    first = rerank_v1.sync(client=c, body=alias)
    assert isinstance(first, m.RerankV1Result) and first.results[0].index == 1, first
    second = rerank_v2.sync(client=c, body=alias)
    assert isinstance(second, m.RerankV2Result) and second.results[0].index == 1, second


def memories(c: AuthenticatedClient) -> None:
    save = m.MemorySave(end_user_id="ann", content="I am allergic to peanuts.", container_tag="health")
    saved = memories_save.sync(client=c, body=save)
    assert isinstance(saved, m.MemorySavedOne) and saved.created, saved
    found = memories_search.sync(client=c, body=m.MemoryQuery(end_user_id="ann", query="what must I not eat?"))
    assert isinstance(found, m.MemoryResults) and "peanuts" in found.results[0].matched_content, found
    wrong = memories_save.sync(client=c, body=m.MemorySave(end_user_id="ann", content=" "))
    assert isinstance(wrong, m.MemoryError_) and wrong.status_code == 400 and wrong.code, wrong


namespaces(client("MNEME_SERVICE_KEY"))
memories(client("MNEME_INTEGRATION_KEY"))
print("round trip done")
