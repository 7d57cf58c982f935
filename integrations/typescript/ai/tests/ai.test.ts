// The middleware and the tools under the AI SDK's own model for tests, against a server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { generateText, stepCountIs, streamText, wrapLanguageModel } from "ai";
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai/test";
import { mnemeContext, mnemeMemory, mnemeRemember, mnemeSearch } from "@mnemehq/ai";
import { InvalidContainerTagError, Mneme, type models, NamespaceNotFoundError } from "@mnemehq/sdk";

const service = new Mneme({ apiKey: process.env.MNEME_SERVICE_KEY });
const client = new Mneme({ apiKey: process.env.MNEME_INTEGRATION_KEY });
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
const stop = { unified: "stop", raw: undefined } as const;
type Generated = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;

function says(text: string, finishReason: Generated["finishReason"] = stop): Generated {
  return { content: [{ type: "text", text }], finishReason, usage, warnings: [] };
}

function calls(toolName: string, input: object): Generated {
  return {
    content: [
      { type: "text", text: "Let me see." },
      { type: "tool-call", toolCallId: "call-1", toolName, input: JSON.stringify(input) },
    ],
    finishReason: { unified: "tool-calls", raw: undefined },
    usage,
    warnings: [],
  };
}

/** A model that answers in turn, behind the middleware. */
function chat(options: Parameters<typeof mnemeMemory>[0], ...answers: Generated[]) {
  const model = new MockLanguageModelV4({ doGenerate: answers });
  return { model: wrapLanguageModel({ model, middleware: mnemeMemory({ client, ...options }) }), asked: model.doGenerateCalls };
}

function someone(): string {
  return `ai-${crypto.randomUUID()}`;
}

async function kept(endUserId: string, containerTag?: string): Promise<string[]> {
  const memories: models.Memory[] = [];
  for await (const one of client.memory.list({ endUserId, containerTag })) memories.push(one);
  memories.sort((a, b) => a.created_at - b.created_at);
  return memories.map((one) => `${one.metadata.role}: ${one.content}`);
}

function systems(call: MockLanguageModelV4["doGenerateCalls"][number]): string[] {
  return call.prompt.flatMap((one) => (one.role === "system" ? [one.content] : []));
}

test("a chat knows what another one said", async () => {
  const endUserId = someone();
  const first = chat({ endUserId, containerTag: "chat-1" }, says("A fine name."));
  await generateText({ model: first.model, prompt: "My cat is called Pixel." });
  assert.deepEqual(systems(first.asked[0]!), []);
  assert.deepEqual(await kept(endUserId, "chat-1"), ["user: My cat is called Pixel.", "assistant: A fine name."]);

  const blocks: models.MemoryContextBlock[] = [];
  const second = chat({ endUserId, containerTag: "chat-2", onContext: (one) => blocks.push(one) }, says("Pixel."));
  const { text } = await generateText({ model: second.model, instructions: "Be brief.", prompt: "What is my cat called?" });
  assert.equal(text, "Pixel.");
  const [before, added, ...more] = systems(second.asked[0]!);
  assert.equal(before, "Be brief.");
  assert.match(added!, /no instruction[^]*My cat is called Pixel\./);
  assert.deepEqual(more, []);
  assert.equal(second.asked[0]!.prompt.at(-1)!.role, "user");
  assert.ok(blocks[0]!.citations.length > 0);
  assert.deepEqual(await kept(endUserId, "chat-2"), ["user: What is my cat called?", "assistant: Pixel."]);
});

test("nobody reads another's memories", async () => {
  await generateText({ model: chat({ endUserId: someone() }, says("Noted.")).model, prompt: "The code is 4711." });
  const other = chat({ endUserId: someone() }, says("No idea."));
  await generateText({ model: other.model, prompt: "What is the code?" });
  assert.deepEqual(systems(other.asked[0]!), []);
});

test("a chat goes on, and only what is new is kept", async () => {
  const endUserId = someone();
  const { model } = chat({ endUserId }, says("Hello."), says("You are Ann."));
  const messages = [{ role: "user" as const, content: "I am Ann." }];
  const { text } = await generateText({ model, messages });
  await generateText({
    model,
    messages: [...messages, { role: "assistant", content: text }, { role: "user", content: "Who am I?" }],
  });
  const said = ["user: I am Ann.", "assistant: Hello.", "user: Who am I?", "assistant: You are Ann."];
  assert.deepEqual(await kept(endUserId), said);
});

test("said again it is kept once, as the latest", async () => {
  const endUserId = someone();
  for (const prompt of ["I live in Lyon.", "I live in Metz.", "I live in Lyon."]) {
    await generateText({ model: chat({ endUserId }, says("I see.")).model, prompt });
  }
  assert.deepEqual(await kept(endUserId), ["user: I live in Metz.", "user: I live in Lyon.", "assistant: I see."]);
});

test("the steps of a turn are kept once each, over one block", async () => {
  const [endUserId, namespace] = [someone(), someone()];
  await service.documents.write(namespace, { documents: [{ id: "lease", text: "The lease ends on 31 May 2027." }] });
  await client.memory.save({ endUserId, content: "The lease is of the shop in Lyon." });
  const { model, asked } = chat({ endUserId }, calls("search", { query: "When does the lease end?" }), says("In May 2027."));
  const { steps, text } = await generateText({
    model,
    prompt: "When does my lease end?",
    tools: { search: mnemeSearch({ namespace, client: service, query: { top_k: 1 } }) },
    stopWhen: stepCountIs(3),
  });
  assert.equal(text, "In May 2027.");
  const [found] = steps[0]!.toolResults;
  const { results, degraded } = found!.output as { results: { document_id: string; text?: string }[]; degraded: unknown[] };
  assert.deepEqual(results.map((one) => [one.document_id, one.text]), [["lease", "The lease ends on 31 May 2027."]]);
  assert.deepEqual(degraded, []);
  assert.match(systems(asked[0]!).join(), /the shop in Lyon/);
  assert.deepEqual(systems(asked[1]!), systems(asked[0]!));
  const said = await kept(endUserId);
  assert.deepEqual(said.slice(1), ["user: When does my lease end?", "assistant: Let me see.", "assistant: In May 2027."]);
});

test("a stream is passed on as it comes, and kept when it ends", async () => {
  const endUserId = someone();
  const model = new MockLanguageModelV4({
    doStream: {
      stream: convertArrayToReadableStream([
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: "Hel" },
        { type: "text-delta", id: "1", delta: "lo." },
        { type: "text-end", id: "1" },
        { type: "finish", finishReason: stop, usage },
      ]),
    },
  });
  const wrapped = wrapLanguageModel({ model, middleware: mnemeMemory({ client, endUserId }) });
  const deltas: string[] = [];
  for await (const delta of streamText({ model: wrapped, prompt: "Good day." }).textStream) deltas.push(delta);
  assert.deepEqual(deltas, ["Hel", "lo."]);
  assert.deepEqual(await kept(endUserId), ["user: Good day.", "assistant: Hello."]);
});

test("an answer that failed is not kept", async () => {
  const endUserId = someone();
  const failed = says("Half an ans", { unified: "error", raw: undefined });
  await generateText({ model: chat({ endUserId }, failed).model, prompt: "Hello?" });
  const model = new MockLanguageModelV4({
    doGenerate: async () => {
      throw new Error("the model is out");
    },
  });
  const wrapped = wrapLanguageModel({ model, middleware: mnemeMemory({ client, endUserId }) });
  await assert.rejects(generateText({ model: wrapped, prompt: "Hello?", maxRetries: 0 }), /the model is out/);
  assert.deepEqual(await kept(endUserId), []);
});

test("long messages are kept whole, and found by their end", async () => {
  const endUserId = someone();
  const prompt = `${"🙂 words ".repeat(12_000)}And what is the code of the door?`;
  await client.memory.save({ endUserId, content: "The code of the door is 4711." });
  const { model, asked } = chat({ endUserId }, says("4711."));
  await generateText({ model, prompt });
  assert.match(systems(asked[0]!).join(), /4711/);
  const parts: models.Memory[] = [];
  for await (const one of client.memory.list({ endUserId })) parts.push(one);
  const users = parts.filter((one) => one.metadata.role === "user").map((one) => one.content);
  assert.equal(users.join("").length, prompt.length);
  assert.ok(users.every((one) => one.isWellFormed() && Buffer.byteLength(one) <= 65_536));
});

test("a turn without words needs no memory", async () => {
  const endUserId = someone();
  const { model, asked } = chat({ endUserId }, says(" "));
  const image = { type: "file" as const, data: new Uint8Array([1]), mediaType: "image/png" };
  await generateText({ model, messages: [{ role: "user", content: [image, { type: "text", text: " " }] }] });
  assert.deepEqual(systems(asked[0]!), []);
  assert.deepEqual(await kept(endUserId), []);
});

test("what fails is said, or the chat goes on without its memory", async () => {
  const endUserId = someone();
  const wrong = { endUserId, containerTag: "not a tag" };
  await assert.rejects(generateText({ model: chat(wrong, says("Hi.")).model, prompt: "Hello." }), InvalidContainerTagError);

  const nobody = new Mneme({ baseUrl: "http://127.0.0.1:1", apiKey: "cint_x", maxRetries: 0 });
  const during: string[] = [];
  const alone = { endUserId, client: nobody, onError: (_: unknown, at: string) => during.push(at) };
  const { text } = await generateText({ model: chat(alone, says("Hi.")).model, prompt: "Hello." });
  assert.deepEqual([text, during], ["Hi.", ["context", "remember"]]);

  const stream = convertArrayToReadableStream([
    { type: "text-start" as const, id: "1" },
    { type: "text-delta" as const, id: "1", delta: "Hi." },
    { type: "text-end" as const, id: "1" },
    { type: "finish" as const, finishReason: stop, usage },
  ]);
  const model = wrapLanguageModel({
    model: new MockLanguageModelV4({ doStream: { stream } }),
    middleware: mnemeMemory({ client, ...wrong }),
  });
  const errors: unknown[] = [];
  const result = streamText({ model, prompt: "Hello.", onError: ({ error }) => void errors.push(error) });
  await result.consumeStream();
  assert.ok(errors[0] instanceof InvalidContainerTagError);
});

test("a model remembers and asks by tools", async () => {
  const endUserId = someone();
  const remember = mnemeRemember({ endUserId, client, containerTag: "facts" });
  const tools = { remember, context: mnemeContext({ endUserId, client }) };
  const run = (...answers: Generated[]) =>
    generateText({ model: new MockLanguageModelV4({ doGenerate: answers }), prompt: "Go.", tools, stopWhen: stepCountIs(2) });
  for (let i = 0; i < 2; i++) await run(calls("remember", { content: "Ann takes no sugar." }), says("Done."));
  const memories: models.Memory[] = [];
  for await (const one of client.memory.list({ endUserId, containerTag: "facts" })) memories.push(one);
  assert.deepEqual(memories.map((one) => one.content), ["Ann takes no sugar."]);

  const { steps } = await run(calls("context", { message: "Does Ann take sugar?" }), says("No."));
  const known = steps[0]!.toolResults[0]!.output as { context: string; citations: { memoryId: string }[] };
  assert.match(known.context, /Ann takes no sugar\./);
  assert.deepEqual(known.citations.map((one) => one.memoryId), [memories[0]!.id]);
});

test("a tool that fails tells the model why", async () => {
  const tools = { search: mnemeSearch({ namespace: someone(), client: service }) };
  const model = new MockLanguageModelV4({ doGenerate: [calls("search", { query: "Anything?" }), says("No.")] });
  const { steps } = await generateText({ model, prompt: "Go.", tools, stopWhen: stepCountIs(2) });
  const failed = steps[0]!.content.find((one) => one.type === "tool-error");
  assert.ok(failed?.error instanceof NamespaceNotFoundError);
});
