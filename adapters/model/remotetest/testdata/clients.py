"""Calls the test servers with the providers' own clients. A client that cannot
read an answer, or a server that refuses what the client sends, ends it."""
import json
import os
import sys

urls = json.loads(os.environ["MNEME_TEST_SERVERS"])
KEY = "a-key-of-the-test"
TEXTS = ["the harbour master keeps the keys", "rain fell on the quay"]
QUERY = "who keeps the keys"


def expect(ok, what, *seen):
    if not ok:
        sys.exit("%s: %r" % (what, seen))


def vectors(got, what):
    expect(len(got) == 2 and all(len(v) == 48 for v in got) and got[0][0] != got[1][0], what, [len(v) for v in got])


def openai_client():
    import openai
    c = openai.OpenAI(api_key=KEY, base_url=urls["openai"] + "/v1", max_retries=0)
    for kind in ({}, {"encoding_format": "float"}):  # the client's own choice is base64
        r = c.embeddings.create(model="m", input=TEXTS, **kind)
        by_index = {d.index: d.embedding for d in r.data}
        vectors([by_index[0], by_index[1]], "openai embeddings")
        expect(r.usage.total_tokens > 0, "openai usage", r.usage)
    stream = c.chat.completions.create(model="m", stream=True, stream_options={"include_usage": True}, max_tokens=50, messages=[
        {"role": "system", "content": "s"}, {"role": "user", "content": json.dumps({"memories": [{"number": 1, "text": "In Lyon."}]})}])
    text, usage = "", None
    for part in stream:
        usage = part.usage or usage
        for choice in part.choices:
            text += choice.delta.content or ""
    expect(text == "In Lyon [1]." and usage.prompt_tokens > 0, "openai chat", text, usage)
    for wrong, error in (({"model": "other", "input": TEXTS}, openai.NotFoundError), ({"model": "m", "input": [""]}, openai.BadRequestError)):
        try:
            c.embeddings.create(**wrong)
            expect(False, "openai refuses", wrong)
        except error as e:
            expect(e.body["message"], "openai error", e.body)
    try:
        openai.OpenAI(api_key="other", base_url=urls["openai"] + "/v1", max_retries=0).embeddings.create(model="m", input=TEXTS)
        expect(False, "openai refuses a wrong key")
    except openai.AuthenticationError:
        pass


def cohere_client():
    import cohere
    c = cohere.ClientV2(api_key=KEY, base_url=urls["cohere"])
    r = c.embed(model="m", texts=TEXTS, input_type="search_document", embedding_types=["float"], truncate="END")
    vectors(r.embeddings.float_ if hasattr(r.embeddings, "float_") else r.embeddings.float, "cohere embed")
    ranked = c.rerank(model="m", query=QUERY, documents=TEXTS, top_n=2)
    expect([x.index for x in ranked.results] == [0, 1] and 0 <= ranked.results[1].relevance_score <= ranked.results[0].relevance_score <= 1, "cohere rerank", ranked)
    try:
        c.embed(model="other", texts=TEXTS, input_type="search_document", embedding_types=["float"])
        expect(False, "cohere refuses another model")
    except cohere.NotFoundError:
        pass


def voyage_client():
    import voyageai
    c = voyageai.Client(api_key=KEY, base_url=urls["voyage"] + "/v1")
    vectors(c.embed(TEXTS, model="m", input_type="document").embeddings, "voyage embed")
    ranked = c.rerank(QUERY, TEXTS, model="m", top_k=2)
    expect([x.index for x in ranked.results] == [0, 1] and 0 <= ranked.results[1].relevance_score <= 1, "voyage rerank", ranked.results)


def ollama_client():
    import ollama
    c = ollama.Client(host=urls["ollama"], headers={"Authorization": "Bearer " + KEY})
    r = c.embed(model="m", input=TEXTS)
    vectors(r.embeddings, "ollama embed")
    parts = list(c.chat(model="m", stream=True, messages=[{"role": "system", "content": "s"},
                                                          {"role": "user", "content": json.dumps({"memories": [{"number": 1, "text": "In Lyon."}]})}]))
    expect("".join(p.message.content for p in parts) == "In Lyon [1]." and parts[-1].done and parts[-1].eval_count > 0, "ollama chat", parts)
    try:
        c.embed(model="other", input=TEXTS)
        expect(False, "ollama refuses another model")
    except ollama.ResponseError as e:
        expect(e.status_code == 404, "ollama error", e)


def tei_client():
    from huggingface_hub import InferenceClient
    c = InferenceClient(token=KEY)
    got = c.feature_extraction(TEXTS, model=urls["tei"] + "/embed", truncate=True, normalize=True)
    vectors([list(v) for v in got], "tei embed")


for client in (openai_client, cohere_client, voyage_client, ollama_client, tei_client):
    client()
    print(client.__name__)
