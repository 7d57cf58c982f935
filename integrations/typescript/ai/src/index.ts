// Mneme for the AI SDK: middleware that gives a chat its memory, and tools for documents and memories.

export { mnemeMemory, type MemoryOptions } from "./middleware.js";
export {
  mnemeContext,
  mnemeRemember,
  mnemeSearch,
  type ContextOptions,
  type Found,
  type Known,
  type Passage,
  type RememberOptions,
  type SearchOptions,
} from "./tools.js";
