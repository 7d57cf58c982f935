"""Mneme for LlamaIndex: passages for a query engine, nodes of a vector store, documents for an index."""

from .embedding import ServerEmbedding
from .reader import MnemeReader
from .retriever import MnemeRetriever
from .vectorstore import MnemeVectorStore

__version__ = "0.0.0"
__all__ = ["MnemeReader", "MnemeRetriever", "MnemeVectorStore", "ServerEmbedding"]
