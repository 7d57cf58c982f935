"""Mneme for the OpenAI Agents SDK: the items of a session, as memories of an end user."""

from .session import MnemeSession

__version__ = "0.0.0"
__all__ = ["MnemeSession"]
