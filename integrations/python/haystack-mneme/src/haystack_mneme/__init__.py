"""Mneme for Haystack: documents of a store, passages for a pipeline."""

from .document_store import MnemeDocumentStore
from .retriever import MnemeRetriever

__version__ = "0.0.0"
__all__ = ["MnemeDocumentStore", "MnemeRetriever"]
