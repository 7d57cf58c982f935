"""OpenAI's client for Python against a server that MNEME_URL names."""

import base64
import io
import os
import struct

import openai

client = openai.OpenAI(base_url=os.environ["MNEME_URL"] + "/v1", api_key=os.environ["MNEME_SERVICE_KEY"], max_retries=0)


def refused(kind, code, param, says, call):
    try:
        call()
    except kind as e:
        assert (e.code, e.param) == (code, param) and says in e.message, e
        assert e.request_id, e
        return
    raise AssertionError("it was not refused")


names = {m.id: m for m in client.models.list()}
assert {"e5-small-v2", "text-embedding-3-small", "rerank-v3.5"} <= set(names), names
assert client.models.retrieve("text-embedding-3-small").owned_by == "wasm"
refused(openai.NotFoundError, "not_found", "model", "it has", lambda: client.models.retrieve("gpt-4"))

texts = ["The hedge is cut in February.", "Bread needs salt.", "In winter the hedge is trimmed."]
made = client.embeddings.create(model="text-embedding-3-small", input=texts)  # it asks for base64 by itself
assert [d.index for d in made.data] == [0, 1, 2] and made.model == "e5-small-v2"
assert all(len(d.embedding) == 384 for d in made.data)
plain = client.embeddings.create(model="e5-small-v2", input=texts[0], encoding_format="float", dimensions=384)
assert max(abs(a - b) for a, b in zip(plain.data[0].embedding, made.data[0].embedding)) < 1e-6
packed = client.embeddings.create(model="e5-small-v2", input=texts[:1], encoding_format="base64")
assert struct.unpack("<384f", base64.b64decode(packed.data[0].embedding)) == tuple(made.data[0].embedding)
dot = lambda i, j: sum(a * b for a, b in zip(made.data[i].embedding, made.data[j].embedding))
assert abs(dot(0, 0) - 1) < 1e-3 and dot(0, 2) > dot(0, 1)
one = [client.embeddings.create(model="e5-small-v2", input=t).usage.prompt_tokens for t in texts]
assert made.usage.prompt_tokens == made.usage.total_tokens == sum(one) and one[0] > 6, (made.usage, one)
asked = client.embeddings.create(model="e5-small-v2", input=texts[0], extra_body={"input_type": "query"})
assert asked.data[0].embedding != plain.data[0].embedding

create = client.embeddings.create
bad = openai.BadRequestError
refused(bad, "invalid_request", "dimensions", "384", lambda: create(model="e5-small-v2", input="a", dimensions=256))
refused(bad, "invalid_request", "input", "token ids", lambda: create(model="e5-small-v2", input=[1, 2]))
refused(bad, "invalid_request", "input[1]", "is empty", lambda: create(model="e5-small-v2", input=["a", ""]))
refused(bad, "invalid_request", "input[0]", "512", lambda: create(model="e5-small-v2", input="word " * 600))
refused(openai.NotFoundError, "not_found", "model", "aliases", lambda: create(model="ada", input="a"))
refused(bad, "invalid_request", "speed", "known field", lambda: create(model="ada", input="a", extra_body={"speed": 1}))
search = lambda text, **more: client.vector_stores.search("docs", query=text, **more).data
guide = {"type": "eq", "key": "kind", "value": "guide"}
hits = search("When is the hedge cut?")
assert [h.file_id for h in hits] == ["garden", "bread"] and hits[0].content[0].text == texts[0], hits
assert (hits[0].filename, hits[0].attributes) == ("Garden", {"kind": "guide", "title": "Garden", "year": 2026})
assert hits[0].score > hits[1].score
assert [h.file_id for h in search("salt", filters=guide, max_num_results=5)] == ["garden"]
either = {"type": "or", "filters": [{"type": "in", "key": "kind", "value": ["recipe"]}, {"type": "eq", "key": "year", "value": 1}]}
assert [h.file_id for h in search("hedge", filters=either)] == ["bread"]
sure = search("When is the hedge cut?", ranking_options={"ranker": "auto", "score_threshold": 0.1})
assert [h.file_id for h in sure] == ["garden"] and 0.1 <= sure[0].score <= 1, sure
store = client.vector_stores.retrieve("docs")
assert (store.id, store.status, store.file_counts.completed) == ("docs", "completed", 2), store
refused(openai.NotFoundError, "namespace_not_found", None, "does not exist", lambda: client.vector_stores.retrieve("none"))
older = {"type": "lt", "key": "year", "value": 2}
refused(bad, "invalid_filter", "filters", "lt is not supported", lambda: search("a", filters=older))
refused(bad, "invalid_request", "query", "array of one", lambda: search(["a", "b"]))
report = "# Garden report\n\nThe greenhouse has nine windows.\n"
shelf = client.vector_stores.create(name="Support FAQ", metadata={"team": "shop"})
stores = client.vector_stores
assert shelf.id.startswith("vs_") and (shelf.name, shelf.status, shelf.metadata) == ("Support FAQ", "completed", {"team": "shop"})
assert shelf.file_counts.total == 0 and stores.search(shelf.id, query="nothing yet").data == []
assert stores.retrieve(shelf.id).id == shelf.id
sent = client.files.create(file=("report.md", report.encode()), purpose="assistants")
assert sent.id.startswith("file-") and (sent.bytes, sent.filename, sent.status) == (len(report), "report.md", "processed"), sent
assert client.files.retrieve(sent.id) == sent and client.files.wait_for_processing(sent.id) == sent
assert client.files.content(sent.id).read() == report.encode()
put = stores.files.create(shelf.id, file_id=sent.id, attributes={"kind": "report", "year": 2026, "draft": True})
assert (put.id, put.status, put.last_error, put.vector_store_id) == (sent.id, "completed", None, shelf.id), put
assert (put.attributes["kind"], put.attributes["year"], put.attributes["draft"]) == ("report", 2026, True), put
assert put.chunking_strategy.type == "other" and put.usage_bytes > 30 and stores.files.retrieve(sent.id, vector_store_id=shelf.id) == put
hit = stores.search(shelf.id, query="How many windows?", filters={"type": "eq", "key": "kind", "value": "report"}).data[0]
assert (hit.file_id, hit.filename) == (sent.id, "report.md") and "nine windows" in hit.content[0].text, hit
assert [c.text.strip() for c in stores.files.content(sent.id, vector_store_id=shelf.id)] == [report.strip()]
changed = stores.files.update(sent.id, vector_store_id=shelf.id, attributes={"kind": "letter"})
assert changed.attributes["kind"] == "letter" and "year" not in changed.attributes, changed
polled = stores.files.upload_and_poll(vector_store_id=shelf.id, file=("bread.txt", b"Bread needs salt."), attributes={"kind": "recipe"})
assert (polled.status, polled.attributes["kind"]) == ("completed", "recipe"), polled
later = stores.files.upload(vector_store_id=shelf.id, file=("soup.txt", b"Soup is cold."))
assert stores.files.poll(later.id, vector_store_id=shelf.id).status == "completed"
again = stores.files.create_and_poll(sent.id, vector_store_id=shelf.id)
assert again.status == "completed" and "kind" not in again.attributes, again
assert [f.id for f in stores.files.list(shelf.id, order="asc", limit=1)] == [sent.id, polled.id, later.id]
assert [f.id for f in stores.files.list(shelf.id, limit=2)] == [later.id, polled.id, sent.id]
assert [f.id for f in stores.files.list(shelf.id, filter="failed")] == []

# A long text is written in the background. Words that no model knows make it long at little work.
line = "The lamp of cape number %d burns oil. " + " ".join(["x" * 180] * 6)
long = "\n\n".join(line % n for n in range(300)).encode()
batch = stores.file_batches.create(shelf.id, file_ids=[client.files.create(file=("capes.txt", long), purpose="user_data").id, sent.id])
assert (batch.status, batch.file_counts.in_progress, batch.file_counts.total) == ("in_progress", 2, 2), batch
capes = next(f for f in stores.files.list(shelf.id, filter="in_progress"))
assert capes.status == "in_progress" and stores.retrieve(shelf.id).status == "in_progress"
refused(openai.ConflictError, "conflict", None, "still being written", lambda: stores.delete(shelf.id))
refused(openai.NotFoundError, "not_found", None, "when it is completed", lambda: stores.file_batches.cancel(batch.id, vector_store_id=shelf.id))
small = stores.file_batches.upload_and_poll(shelf.id, files=[("a.txt", io.BytesIO(b"First.")), ("b.txt", io.BytesIO(b"Second."))])
assert (small.status, small.file_counts.completed, small.file_counts.failed) == ("completed", 2, 0), small
assert len(list(stores.file_batches.list_files(small.id, vector_store_id=shelf.id, limit=1))) == 2
done = stores.file_batches.poll(batch.id, vector_store_id=shelf.id, poll_interval_ms=200)
assert (done.status, done.file_counts.completed) == ("completed", 2), done
parts = [c.text for c in stores.files.content(next(f.id for f in stores.files.list(shelf.id) if f.usage_bytes > 200_000), vector_store_id=shelf.id)]
assert len(parts) == 2 and "number 299 burns" in parts[1], [len(p) for p in parts]
ids = [f.id for f in stores.files.list(shelf.id, limit=1)]
assert len(ids) == len(set(ids)) == 6, ids

shelves = [s.id for s in stores.list(limit=1)]
assert {"docs", shelf.id} <= set(shelves), shelves
assert [s.id for s in stores.list(limit=1, before=shelves[-1])] == shelves[-2:-1]  # the page before, and the client asks for more
assert [f.id for f in stores.files.list(shelf.id, before=ids[-1])] == ids[:-1]
renamed = stores.update(shelf.id, name="FAQ", metadata={})
assert (renamed.name, renamed.metadata) == ("FAQ", {}) and stores.retrieve(shelf.id).name == "FAQ", renamed
assert [f.id for f in stores.files.list("docs", order="asc")] == ["bread", "garden"]
filled = stores.create(name="Filled", file_ids=[sent.id])
assert filled.file_counts.completed == 1 and stores.files.delete(sent.id, vector_store_id=filled.id).deleted
refused(openai.NotFoundError, "document_not_found", None, "holds no file", lambda: stores.files.retrieve(sent.id, vector_store_id=filled.id))
assert stores.retrieve(filled.id).file_counts.total == 0 and stores.delete(filled.id).deleted
gone = client.files.delete(sent.id)
assert (gone.id, gone.deleted) == (sent.id, True)
refused(openai.NotFoundError, "not_found", None, "does not exist", lambda: client.files.retrieve(sent.id))
refused(openai.NotFoundError, "document_not_found", None, "holds no file", lambda: stores.files.retrieve(sent.id, vector_store_id=shelf.id))
assert sent.id not in [f.id for f in client.files.list(limit=2)]

static = {"type": "static", "static": {"max_chunk_size_tokens": 800, "chunk_overlap_tokens": 400}}
refused(bad, "invalid_request", "chunking_strategy", "auto", lambda: stores.create(chunking_strategy=static))
refused(bad, "invalid_request", "expires_after", "nothing expires", lambda: stores.create(expires_after={"anchor": "last_active_at", "days": 1}))
refused(bad, "invalid_request", "before", "begin again", lambda: stores.list(before="vs_none"))
refused(bad, "invalid_request", "purpose", "vector stores", lambda: client.files.create(file=b"a", purpose="batch"))
refused(bad, "invalid_request", "expires_after", "no file expires", lambda: client.files.create(
    file=b"a", purpose="assistants", expires_after={"anchor": "created_at", "seconds": 3600}))
refused(bad, "invalid_request", "file", "no_text", lambda: client.files.create(file=("empty.txt", b""), purpose="assistants"))
refused(openai.NotFoundError, "not_found", "file_id", "POST /v1/files", lambda: stores.files.create(shelf.id, file_id="garden"))
refused(openai.NotFoundError, "not_found", None, "64 MiB", lambda: client.uploads.create(bytes=1, filename="a", mime_type="a/b", purpose="assistants"))
assert stores.delete(shelf.id).deleted
refused(openai.NotFoundError, "namespace_not_found", None, "does not exist", lambda: stores.retrieve(shelf.id))
for file in ids:
    assert file == sent.id or client.files.delete(file).deleted
stranger = openai.OpenAI(base_url=client.base_url, api_key="sk-proj-of-another-service", max_retries=0)
refused(openai.AuthenticationError, "unauthorized", None, "not valid", lambda: stranger.models.list())
print("round trip done")
