"""Documents of a namespace for an index of another kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import Document
from mneme import DocumentNotFoundError, Mneme

from .nodes import plain


class MnemeReader(BaseReader):
    """Reads documents, those of files and sources, too, whole.

    Args:
        client: a client with a service key; otherwise one of MNEME_URL and MNEME_API_KEY.
    """

    def __init__(self, client: Mneme | None = None) -> None:
        self.client = client or Mneme()

    def lazy_load_data(  # type: ignore[override]
        self, namespace: str, *, ids: Iterable[str] | None = None, prefix: str | None = None
    ) -> Iterable[Document]:
        """Documents by their ids, or all whose id begins so, by id; each is read as it is asked for.

        DocumentNotFoundError where one of the ids is not there.
        """
        if ids is not None and prefix is not None:
            raise ValueError("ids or a prefix, not both")
        listed: dict[str, Any] = {} if prefix is None else {"prefix": prefix}
        named = ids if ids is not None else (one.id for one in self.client.documents.list(namespace, **listed))
        for id in named:
            try:
                one = self.client.documents.get(namespace, id)
            except DocumentNotFoundError:
                if ids is not None:
                    raise
                continue  # deleted since it was listed
            yield Document(id_=one.id, text=one.text, metadata=plain(one.metadata.to_dict()))
