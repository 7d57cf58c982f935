"""Mneme for LangChain: passages for a chain, documents of a vector store, the messages of a chat."""

from .history import MnemeChatMessageHistory
from .retriever import MnemeRetriever
from .vectorstore import MnemeVectorStore

__version__ = "0.0.0"
__all__ = ["MnemeChatMessageHistory", "MnemeRetriever", "MnemeVectorStore"]
