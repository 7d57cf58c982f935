// Mneme for LangChain: passages for a chain, documents of a vector store, the messages of a chat.

export { MnemeChatMessageHistory, type HistoryOptions } from "./history.js";
export { MnemeRetriever, type Citation, type PassageMetadata, type RetrieverOptions } from "./retriever.js";
export { MnemeVectorStore, type StoreOptions } from "./vectorstore.js";
