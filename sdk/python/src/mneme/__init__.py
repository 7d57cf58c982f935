"""Client of Mneme, a memory and document retrieval server.

``Mneme`` and ``AsyncMneme`` are the clients, ``models`` holds what calls take and answer,
``webhooks`` verifies deliveries; what goes wrong is below ``MnemeError``.
"""

from . import errors, webhooks
from ._api import models
from ._api.types import UNSET
from ._async.client import AsyncMneme
from ._policy import FileInput
from ._sync.client import Mneme
from .errors import *  # noqa: F403

__version__ = "0.0.0"
__all__ = ["UNSET", "AsyncMneme", "FileInput", "Mneme", "errors", "models", "webhooks"]
__all__ += [name for name in vars(errors) if name.endswith("Error")]
