"""Mneme for Claude's memory tool: the files that the assistant keeps, as memories of an end user."""

from .tool import AsyncMnemeMemoryTool, MnemeMemoryTool

__version__ = "0.0.0"
__all__ = ["AsyncMnemeMemoryTool", "MnemeMemoryTool"]
