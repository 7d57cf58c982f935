"""Makes src/mneme/_sync of src/mneme/_async: python scripts/unasync.py OUT.

The client for asyncio is the one that is written; the other is the same without await.
"""

import re
import sys
from pathlib import Path

WORDS = {
    "AsyncIterator": "Iterator",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "aclose": "close",
    "aiter_lines": "iter_lines",
    "aread": "read",
    "asleep": "sleep",
    "asynccontextmanager": "contextmanager",
    "asyncio_detailed": "sync_detailed",
    "set_async_httpx_client": "set_httpx_client",
}
TWIN = '"""The client without await, made of _async by scripts/unasync.py."""\n'


def unasync(text: str) -> str:
    text = re.sub(r"\b(?:async (?=def|for|with)|await )", "", text)
    text = re.sub(r"\bAwaitable\[([\w\[\], ]+?)\](?=\]|\))", r"\1", text)
    text = re.sub(r"AsyncIterator, Awaitable, Callable", "Callable, Iterator", text)
    text = re.sub(r"\b(\w+)\b", lambda word: WORDS.get(word[1], word[1]), text)
    return re.sub(r"\bAsync(?=[A-Z])", "", text).replace("``async for``", "``for``")


def main(out: Path) -> None:
    source = Path(__file__).parent.parent / "src" / "mneme" / "_async"
    out.mkdir(parents=True, exist_ok=True)
    for file in source.glob("*.py"):
        made = TWIN if file.name == "__init__.py" else "# Made by scripts/unasync.py.\n" + unasync(file.read_text())
        (out / file.name).write_text(made)


main(Path(sys.argv[1]))
