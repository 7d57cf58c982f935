"""Paths of the memory tool. They are names and no disk sees them, yet what would leave its folder is refused."""

from __future__ import annotations

from urllib.parse import unquote

from anthropic.lib.tools import ToolError

ROOT = "/memories"
_LONGEST = 1024


def cleaned(path: str) -> str:
    """A path in its only form: no empty segments and no slash at the end. ToolError where it is not one below ROOT."""
    if not isinstance(path, str) or not (path == ROOT or path.startswith(ROOT + "/")):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    decoded = path
    while (once := unquote(decoded)) != decoded:
        decoded = once
    if "\\" in decoded or ".." in decoded.split("/"):
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    if len(path) > _LONGEST or any(ord(letter) < 32 or 0xD800 <= ord(letter) < 0xE000 for letter in decoded):
        raise ToolError(f"Path {path!r} is not valid")
    return "/".join(["", *(part for part in path.split("/") if part not in ("", "."))])


def parents(path: str) -> list[str]:
    """The directories above a path, ROOT first."""
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(2, len(parts))]
