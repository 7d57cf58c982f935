"""OpenAI's client for Python against a server that MNEME_URL names."""

import base64
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
stranger = openai.OpenAI(base_url=client.base_url, api_key="sk-proj-of-another-service", max_retries=0)
refused(openai.AuthenticationError, "unauthorized", None, "not valid", lambda: stranger.models.list())
print("round trip done")
