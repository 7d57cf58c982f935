// Retriever, vector store and chat history under LangChain's own parts, against a server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { InMemoryChatMessageHistory } from "@langchain/core/chat_history";
import { Document } from "@langchain/core/documents";
import { index, RecordManager, type ListKeyOptions, type UpdateOptions } from "@langchain/core/indexing";
import { AIMessage, type BaseMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { ChatPromptTemplate, MessagesPlaceholder } from "@langchain/core/prompts";
import { RunnableLambda, RunnablePassthrough, RunnableSequence, RunnableWithMessageHistory } from "@langchain/core/runnables";
import { FakeEmbeddings, FakeListChatModel } from "@langchain/core/utils/testing";
import { MnemeChatMessageHistory, MnemeRetriever, MnemeVectorStore } from "@mnemehq/langchain";
import { InvalidFilterError, InvalidRequestError, Mneme, NamespaceNotFoundError } from "@mnemehq/sdk";

const service = new Mneme({ apiKey: process.env.MNEME_SERVICE_KEY });
const integration = new Mneme({ apiKey: process.env.MNEME_INTEGRATION_KEY });
const long = Array.from({ length: 6 }, (_, i) => `Paragraph ${i} tells of keeper number ${i} of the light. `.repeat(12)).join("\n\n");

function fresh(): string {
  return `js-${crypto.randomUUID()}`;
}

function store(namespace = fresh()): MnemeVectorStore {
  return new MnemeVectorStore({ namespace, client: service });
}

function texts(documents: { pageContent: string }[]): string[] {
  return documents.map((one) => one.pageContent);
}

test("documents come back whole, as they were added", async () => {
  const there = store();
  assert.deepEqual(await there.similaritySearch("anything"), []);
  assert.deepEqual(await there.getByIds(["long"]), []);
  const metadata = {
    n: null,
    deep: { a: [1, 2] },
    tags: ["x", "y"],
    _json: "mine",
    big: 2 ** 60,
    year: 2027,
    ok: true,
    half: 0.5,
    $key: 1,
  };
  const documents = [new Document({ pageContent: long, metadata }), new Document({ pageContent: "Short.", id: "short" })];
  assert.deepEqual(await there.addDocuments(documents, { ids: ["long", undefined] }), ["long", "short"]);
  assert.deepEqual(await there.similaritySearch("keeper number 4 of the light", 1), [
    new Document({ id: "long", pageContent: long, metadata }),
  ]);
  const read = await there.getByIds(["short", "absent", "long"]);
  assert.deepEqual(read.map((one) => one.id), ["short", "long"]);

  await there.addDocuments([new Document({ id: "short", pageContent: "Replaced." })]);
  assert.deepEqual(texts(await there.getByIds(["short"])), ["Replaced."]);
  const [made] = await there.addDocuments([new Document({ pageContent: "Without an id." })]);
  assert.deepEqual(texts(await there.getByIds([made!])), ["Without an id."]);
  await there.delete({ ids: ["short", "absent"] });
  assert.deepEqual(await there.getByIds(["short"]), []);
});

test("filters, of searches and of deletions", async () => {
  const metadatas = [{ kind: "a" }, { kind: "b" }, { kind: "b", year: 2 }];
  const there = await MnemeVectorStore.fromTexts(["one", "two", "three"], metadatas, undefined, {
    namespace: fresh(),
    client: service,
  });
  assert.deepEqual(texts(await there.similaritySearch("one", 4, { kind: "b" })).sort(), ["three", "two"]);
  const retriever = there.asRetriever({ k: 2, filter: { kind: { $in: ["a"] } } });
  assert.deepEqual(texts(await retriever.invoke("two")), ["one"]);
  await retriever.addDocuments([new Document({ pageContent: "four", metadata: { kind: "a" } })]);
  assert.equal((await retriever.invoke("two")).length, 2);
  await assert.rejects(there.similaritySearch("one", 4, { year: { $gt: 1 } }), InvalidFilterError);
  await there.delete({ filter: { kind: "b" } });
  assert.deepEqual(texts(await there.similaritySearch("two")).sort(), ["four", "one"]);
});

test("scores are the server's, best first", async () => {
  const there = new MnemeVectorStore({ namespace: fresh(), client: service, query: { rerank: true } });
  await there.addDocuments([
    new Document({ pageContent: "Bees fly." }),
    new Document({ pageContent: "The lease ends in May 2027." }),
  ]);
  const [[best, score], [, other]] = (await there.similaritySearchWithScore("when does the lease end?", 2)) as [
    [Document, number],
    [Document, number],
  ];
  assert.equal(best.pageContent, "The lease ends in May 2027.");
  assert.ok(1 >= score && score > other && other >= 0);
});

test("more than one write and deletion", async () => {
  const there = store();
  const ids = await there.addDocuments(Array.from({ length: 101 }, (_, i) => new Document({ pageContent: `Text ${i}.` })));
  assert.deepEqual(texts(await there.getByIds(ids)), Array.from({ length: 101 }, (_, i) => `Text ${i}.`));
  await there.delete({ ids: ids.slice(0, 101).reverse().slice(0, 100) });
  assert.deepEqual((await there.getByIds(ids)).map((one) => one.id), [ids[0]]);
});

test("vectors are refused, with what to call instead", async () => {
  const embeddings = new FakeEmbeddings();
  const there = store();
  const options = { namespace: there.namespace, client: service };
  await assert.rejects(MnemeVectorStore.fromTexts(["x"], {}, embeddings, options), /server embeds/);
  await assert.rejects(MnemeVectorStore.fromDocuments([], embeddings, options), /server embeds/);
  await assert.rejects(there.addVectors(), /use addDocuments/);
  await assert.rejects(there.similaritySearchVectorWithScore(), /use similaritySearch/);
  await assert.rejects(there.embeddings.embedQuery("x"), /similaritySearch/);
  await assert.rejects(there.embeddings.embedDocuments(["x"]), /addDocuments/);
  await assert.rejects(there.asRetriever({ searchType: "mmr" }).invoke("x"), /max marginal relevance/);
});

test("what cannot be done says so, and does nothing", async () => {
  const there = store();
  const two = [new Document({ pageContent: "a" }), new Document({ pageContent: "b" })];
  await assert.rejects(there.addDocuments(two, { ids: ["1"] }), /2 documents with 1 ids/);
  await assert.rejects(MnemeVectorStore.fromTexts(["a"], [{}, {}], undefined, { ...there, client: service }), /1 texts/);
  await assert.rejects(there.addDocuments([new Document({ pageContent: "a", metadata: { n: 1n } })]), TypeError);
  await assert.rejects(there.delete(), /ids or a filter/);
  await assert.rejects(there.delete({ ids: [], filter: {} }), /ids or a filter/);
  assert.deepEqual(await there.similaritySearch("a"), []);
  await there.addDocuments(two);
  await assert.rejects(there.similaritySearch("x", 101), InvalidRequestError);
  await assert.rejects(new MnemeRetriever({ namespace: fresh(), client: service }).invoke("x"), NamespaceNotFoundError);
});

/** What was indexed, as LangChain's index() wants it. */
class Records extends RecordManager {
  lc_namespace = ["test"];
  readonly #kept = new Map<string, { at: number; group: string | null }>();
  #clock = 0;
  async createSchema(): Promise<void> {}
  async getTime(): Promise<number> {
    return ++this.#clock;
  }
  async update(keys: string[], options: UpdateOptions = {}): Promise<void> {
    keys.forEach((one, i) => this.#kept.set(one, { at: ++this.#clock, group: options.groupIds?.[i] ?? null }));
  }
  async exists(keys: string[]): Promise<boolean[]> {
    return keys.map((one) => this.#kept.has(one));
  }
  async listKeys({ before = Infinity, after = 0, groupIds, limit }: ListKeyOptions = {}): Promise<string[]> {
    const found = [...this.#kept].filter(([, one]) => {
      return one.at < before && one.at > after && (!groupIds || groupIds.includes(one.group));
    });
    return found.map(([key]) => key).slice(0, limit);
  }
  async deleteKeys(keys: string[]): Promise<void> {
    for (const one of keys) this.#kept.delete(one);
  }
}

test("LangChain's index() keeps a store in step with its documents", async () => {
  const [there, recordManager] = [store(), new Records()];
  const sync = (...all: string[]) =>
    index({
      docsSource: all.map((pageContent) => new Document({ pageContent, metadata: { source: "notes" } })),
      recordManager,
      vectorStore: there,
      options: { cleanup: "full" },
    });
  assert.equal((await sync("The sea is blue.", "Bees fly.")).numAdded, 2);
  assert.equal((await sync("The sea is blue.", "Bees fly.")).numSkipped, 2);
  const changed = await sync("The sea is blue.", "Bees sleep.");
  assert.deepEqual([changed.numAdded, changed.numDeleted], [1, 1]);
  assert.deepEqual(texts(await there.similaritySearch("what do bees do?")).sort(), ["Bees sleep.", "The sea is blue."]);
});

test("passages have citations, and a chain answers from them", async () => {
  const namespace = fresh();
  const file = { name: "bees.md", content: new TextEncoder().encode("# Bees\n\nBees fly to flowers.") };
  await service.files.upload(namespace, file, { metadata: { team: "shop" } });
  const retriever = new MnemeRetriever({ namespace, client: service, k: 1, filter: { team: "shop" }, query: { mode: "keyword" } });
  const [one, ...more] = await retriever.invoke("what do bees do?");
  assert.deepEqual(more, []);
  assert.equal(one!.id, `${namespace}/bees.md`);
  assert.match(one!.pageContent, /Bees fly to flowers\./);
  const { citation, ...metadata } = one!.metadata;
  assert.equal(metadata.team, "shop");
  assert.deepEqual([citation.document_id, citation.heading, citation.score_kind], ["bees.md", "Bees", "bm25"]);
  assert.ok(citation.score > 0 && citation.end > citation.start);

  const events: string[] = [];
  const handler = { handleRetrieverStart: () => void events.push("start"), handleRetrieverEnd: () => void events.push("end") };
  const chain = RunnableSequence.from([
    { context: retriever.pipe((found) => texts(found).join()), question: new RunnablePassthrough() },
    ChatPromptTemplate.fromTemplate("{context}\n{question}"),
    new RunnableLambda({ func: (prompt: { toString(): string }) => prompt.toString() }),
  ]);
  assert.match(await chain.invoke("what do bees do?", { callbacks: [handler] }), /Bees fly to flowers\.[^]*what do bees do\?/);
  assert.deepEqual(events, ["start", "end"]);
  assert.deepEqual(await new MnemeRetriever({ namespace, client: service, filter: { team: "other" } }).invoke("bees"), []);
  for (const part of [retriever, store(namespace)]) assert.doesNotMatch(JSON.stringify(part), /sk-service/);
});

function history(endUserId: string, sessionId: string): MnemeChatMessageHistory {
  return new MnemeChatMessageHistory({ endUserId, sessionId, client: integration });
}

function plain(messages: BaseMessage[]): unknown[] {
  return messages.map((one) => one.toDict());
}

test("messages come back in order and whole, as in LangChain's own history", async () => {
  const [theirs, sessionId] = [new InMemoryChatMessageHistory(), fresh()];
  const there = history("ann", sessionId);
  const said = [
    new SystemMessage("Be brief."),
    new HumanMessage({ content: "Hello", name: "Ann", id: "m1", additional_kwargs: { deep: { a: [null] } } }),
    new AIMessage({ content: "", tool_calls: [{ name: "weather", args: { city: "Lyon" }, id: "call-1", type: "tool_call" }] }),
    new ToolMessage({ content: "rain", tool_call_id: "call-1", name: "weather" }),
    new HumanMessage({ content: [{ type: "text", text: "and now?" }] }),
    new HumanMessage("  Hello\r\n"),
    new HumanMessage("  Hello\r\n"),
    new ChatMessage("In other words", "critic"),
    new AIMessage({ content: "Fine.", response_metadata: { model: "m" } }),
  ];
  await there.addMessages(said.slice(0, 4));
  for (const one of said.slice(4)) await there.addMessage(one);
  await theirs.addMessages(said);
  for (const one of [there, theirs]) {
    await one.addUserMessage("Bye.");
    await one.addAIMessage("So long.");
  }
  assert.deepEqual(plain(await there.getMessages()), plain(await theirs.getMessages()));
  assert.deepEqual((await there.getMessages()).map((one) => one.constructor), (await theirs.getMessages()).map((one) => one.constructor));
  assert.deepEqual(await history("ben", sessionId).getMessages(), []);
  assert.deepEqual(await history("ann", fresh()).getMessages(), []);
  const { results } = await integration.memory.search({ endUserId: "ann", query: "who is brief?", containerTag: sessionId });
  assert.ok(results.some((one) => one.matchedContent === "Be brief."));
  await history("ben", sessionId).clear();
  assert.equal((await there.getMessages()).length, said.length + 2);
  await there.clear();
  assert.deepEqual(await there.getMessages(), []);
});

test("a long chat", async () => {
  const there = history("ann", fresh());
  await there.addMessages(Array.from({ length: 205 }, (_, i) => new HumanMessage(`Message ${i}.`)));
  const contents = (await there.getMessages()).map((one) => one.content);
  assert.deepEqual(contents, Array.from({ length: 205 }, (_, i) => `Message ${i}.`));
  await there.clear();
  assert.deepEqual(await there.getMessages(), []);
});

test("what others remembered is read, too", async () => {
  const [endUserId, containerTag] = [fresh(), "chat-1"];
  // As the Python package keeps it.
  const data = { additional_kwargs: {}, response_metadata: {}, type: "ai", tool_calls: [{ name: "f", args: {}, id: "c", type: "tool_call" }] };
  const langchain = JSON.stringify({ type: "ai", data });
  await integration.memory.remember({
    endUserId,
    containerTag,
    messages: [
      { id: "1", role: "developer", content: "Be brief." },
      { id: "2", role: "assistant", content: "I look.", metadata: { langchain } },
      { id: "3", role: "user", content: "Well?" },
    ],
  });
  const [first, second, third] = await history(endUserId, containerTag).getMessages();
  assert.ok(first instanceof SystemMessage && second instanceof AIMessage && third instanceof HumanMessage);
  assert.deepEqual([first.content, second.content, third.content], ["Be brief.", "I look.", "Well?"]);
  assert.equal(second.tool_calls![0]!.name, "f");
});

test("a chain remembers", async () => {
  const [endUserId, sessionId] = [fresh(), "chat-1"];
  const asked: string[] = [];
  const prompt = ChatPromptTemplate.fromMessages([new MessagesPlaceholder("history"), ["human", "{input}"]]);
  const model = new FakeListChatModel({ responses: ["Hi Ann.", "You are Ann."] });
  const chain = new RunnableWithMessageHistory({
    runnable: prompt.pipe((value) => (asked.push(value.toString()), value)).pipe(model),
    getMessageHistory: (id: string) => history(endUserId, id),
    inputMessagesKey: "input",
    historyMessagesKey: "history",
  });
  for (const input of ["I am Ann.", "Who am I?"]) await chain.invoke({ input }, { configurable: { sessionId } });
  assert.match(asked[1]!, /I am Ann\.[^]*Hi Ann\.[^]*Who am I\?/);
  const said = (await history(endUserId, sessionId).getMessages()).map((one) => one.content);
  assert.deepEqual(said, ["I am Ann.", "Hi Ann.", "Who am I?", "You are Ann."]);
});
