"""The embedding model of an index whose store embeds."""

from __future__ import annotations

from llama_index.core.embeddings import BaseEmbedding


class ServerEmbedding(BaseEmbedding):
    """Leaves embedding to the server: ``VectorStoreIndex`` asks for a model, and this one computes nothing."""

    model_name: str = "server"

    def _get_text_embedding(self, text: str) -> list[float]:
        return []

    def _get_query_embedding(self, query: str) -> list[float]:
        return []

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return []
