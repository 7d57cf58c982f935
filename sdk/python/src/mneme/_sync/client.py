# Made by scripts/unasync.py.
"""The client itself."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

import httpx

from .. import _policy
from .._api import api
from .._api import models as m
from .._api.types import UNSET, Unset
from . import resources as r
from .core import Core


class Mneme:
    """A client of one server with one key.

    Args:
        base_url: where the server is, http://127.0.0.1:8080 for example; otherwise MNEME_URL of the environment.
        api_key: an ``sk-service-`` key for namespaces, a ``cint_`` key for memories, an ``adm-`` key for
            administration; otherwise MNEME_API_KEY of the environment.
        timeout: seconds that one attempt may take.
        max_retries: how often a call is tried again where that is safe.
        http_client: an httpx client with proxies, certificates and limits of your own; it becomes this client's,
            but is not closed by it.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = _policy.DEFAULT_TIMEOUT,
        max_retries: int = _policy.DEFAULT_RETRIES,
        http_client: httpx.Client | None = None,
    ) -> None:
        url = base_url or os.environ.get("MNEME_URL") or "http://127.0.0.1:8080"
        key = os.environ.get("MNEME_API_KEY", "") if api_key is None else api_key
        self._use(Core(url, key, timeout=timeout, max_retries=max_retries, http_client=http_client))

    def _use(self, core: Core) -> None:
        self._core = core
        self.namespaces = r.Namespaces(core)
        self.documents = r.Documents(core)
        self.files = r.Files(core)
        self.queries = r.Queries(core)
        self.memory = r.Memory(core)
        self.grants = r.Grants(core)
        self.users = r.Users(core)
        self.models = r.Models(core)
        self.sources = r.Sources(core)
        self.events = r.Events(core)
        self.webhooks = r.Webhooks(core)
        self.admin = r.Admin(core)

    def with_options(self, *, timeout: float | None = None, max_retries: int | None = None) -> Self:
        """This client under another time-out or number of retries; it shares the connections."""
        made = object.__new__(type(self))
        made._use(self._core.with_options(timeout=timeout, max_retries=max_retries))
        return made

    def rerank(
        self,
        query: str,
        documents: list[str],
        *,
        top_k: int | Unset = UNSET,
        model: str | Unset = UNSET,
    ) -> m.RerankResult:
        """Score texts against a query."""
        fields = _policy.body(query=query, documents=documents, top_k=top_k, model=model)
        return self._core.call(api.rerank.rerank.sync_detailed, m.RerankResult, body=m.RerankRequest.from_dict(fields))

    def health(self) -> m.StatusHealth:
        """Whether the process answers."""
        return self._core.call(api.status.health.sync_detailed, m.StatusHealth)

    def health_deep(self) -> m.StatusDeep:
        """Whether everything that calls need is there."""
        return self._core.call(api.status.health_deep.sync_detailed, m.StatusDeep)

    def close(self) -> None:
        """Closes the connections."""
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
