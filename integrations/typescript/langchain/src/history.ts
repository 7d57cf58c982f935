// The messages of a chat as memories of an end user.

import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import {
  type BaseMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  type StoredMessage,
} from "@langchain/core/messages";
import { Mneme, type models } from "@mnemehq/sdk";

const atOnce = 100;
const key = "langchain"; // what the Python package has, too: each reads what the other one kept
const roles: Record<string, models.MemoryMessage["role"]> = {
  human: "user",
  ai: "assistant",
  system: "system",
  tool: "tool",
  function: "tool",
};
const kinds: Record<string, string> = { user: "human", assistant: "ai", system: "system", developer: "system", tool: "human" };

export interface HistoryOptions {
  /** Whose conversation it is. Name it from your own session, never from what a model or a browser says. */
  endUserId: string;
  /** Which one, as a container tag: 1 to 128 characters of A-Z a-z 0-9 . _ : -. */
  sessionId: string;
  /** A client with a `cint_` key; otherwise one of MNEME_URL and MNEME_API_KEY. */
  client?: Mneme;
}

/** One conversation of an end user. What was said is searched with all other memories of them. */
export class MnemeChatMessageHistory extends BaseListChatMessageHistory {
  static override lc_name(): string {
    return "MnemeChatMessageHistory";
  }
  lc_namespace = ["mneme", "stores", "message"];
  readonly endUserId: string;
  readonly sessionId: string;
  readonly client: Mneme;

  constructor({ endUserId, sessionId, client }: HistoryOptions) {
    super();
    this.endUserId = endUserId;
    this.sessionId = sessionId;
    this.client = client ?? new Mneme();
  }

  /** All of them, oldest first. */
  override async getMessages(): Promise<BaseMessage[]> {
    const kept = (await this.#kept()).map((memory) => ({ memory, id: String(memory.metadata.messageId ?? "") }));
    kept.sort((a, b) => a.memory.created_at - b.memory.created_at || (a.id < b.id ? -1 : Number(a.id > b.id)));
    return mapStoredMessagesToChatMessages(kept.map(({ memory }) => restored(memory)));
  }

  /** Add a message at the end. */
  override addMessage(message: BaseMessage): Promise<void> {
    return this.addMessages([message]);
  }

  /** Add messages at the end; each hundred of them is kept whole or not at all. */
  override async addMessages(messages: BaseMessage[]): Promise<void> {
    const made = mapChatMessagesToStoredMessages(messages).map(stored);
    const { endUserId, sessionId: containerTag } = this;
    for (let start = 0; start < made.length; start += atOnce) {
      await this.client.memory.remember({ endUserId, containerTag, messages: made.slice(start, start + atOnce) });
    }
  }

  /** Forget this conversation. */
  override async clear(): Promise<void> {
    const ids = (await this.#kept()).map((one) => one.id);
    for (let start = 0; start < ids.length; start += atOnce) {
      await this.client.memory.delete({ endUserId: this.endUserId, ids: ids.slice(start, start + atOnce) });
    }
  }

  async #kept(): Promise<models.Memory[]> {
    const { endUserId, sessionId: containerTag } = this;
    const all: models.Memory[] = [];
    for await (const one of this.client.memory.list({ endUserId, containerTag, limit: atOnce })) all.push(one);
    return all;
  }
}

let last = 0n;

/** Ids in the order in which they are made, since messages of one call share its time. */
function messageId(): string {
  const now = BigInt(Date.now()) * 1_000_000n;
  last = now > last ? now : last + 1n;
  return `${String(last).padStart(20, "0")}-${crypto.randomUUID().slice(0, 8)}`;
}

function stored(message: StoredMessage): models.MemoryMessage {
  const { content, ...beside } = message.data;
  const role = roles[message.type] ?? "user";
  if (typeof content === "string" && content.trim() !== "") {
    const metadata = { [key]: JSON.stringify({ type: message.type, data: beside }) };
    return { id: messageId(), role, content, metadata };
  }
  // Blocks, or nothing but tool calls: the whole is the content, and their text is what is found.
  return { id: messageId(), role, content: JSON.stringify(message), metadata: { [key]: "{}" } };
}

function restored({ content, metadata }: models.Memory): StoredMessage {
  const kept = metadata[key];
  if (typeof kept !== "string") {
    // Remembered by something else.
    return { type: kinds[String(metadata.role)] ?? "human", data: { content } as StoredMessage["data"] };
  }
  const message = JSON.parse(kept === "{}" ? content : kept) as StoredMessage;
  message.data.content ??= content;
  return message;
}
