"""Mneme for AutoGen: what an agent knows of its end user."""

from .memory import MnemeMemory, MnemeMemoryConfig

__version__ = "0.0.0"
__all__ = ["MnemeMemory", "MnemeMemoryConfig"]
