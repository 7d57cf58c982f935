"""Lets a test drive the client of the official Python SDK, version 1 or 2, by the lines that bridge.mjs takes and gives."""
import asyncio
import json
import sys
from contextlib import AsyncExitStack

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

try:
    from mcp import McpError
    from mcp.client.streamable_http import streamablehttp_client as connect

    VERSION = 1
except ImportError:
    import httpx2
    from mcp import MCPError as McpError
    from mcp.client.streamable_http import streamable_http_client

    VERSION = 2

    def connect(url, headers):
        return streamable_http_client(url, http_client=httpx2.AsyncClient(headers=headers, timeout=120))


def reply(value):
    print(json.dumps(value), flush=True)


def authorization(key):
    return {"Authorization": f"Bearer {key}"} if key else {}


def failure(error):
    while isinstance(error, BaseExceptionGroup):  # what a task group wraps around it
        error = error.exceptions[0]
    code = error.error.code if isinstance(error, McpError) else None
    return {"error": {"name": type(error).__name__, "code": code, "message": str(error)}}


async def main():
    lines = iter(sys.stdin.readline, "")
    to = json.loads(next(lines))
    try:
        async with AsyncExitStack() as stack:
            if to["url"]:
                streams = await stack.enter_async_context(connect(to["url"], headers=authorization(to["key"])))
            else:
                command, *args = to["command"]
                streams = await stack.enter_async_context(stdio_client(StdioServerParameters(command=command, args=args, env=to["env"])))
            session = await stack.enter_async_context(ClientSession(*streams[:2]))
            hello = await session.initialize()
            reply({"result": {"revision": hello.protocolVersion if VERSION == 1 else hello.protocol_version}})
            for line in lines:
                call = json.loads(line)
                try:
                    # list_tools also loads the output schemas that call_tool checks answers against.
                    answer = await (session.list_tools() if call["method"] == "tools/list" else session.call_tool(call["params"]["name"], call["params"]["arguments"]))
                    reply({"result": answer.model_dump(mode="json", by_alias=True, exclude_none=True)})
                except Exception as error:
                    reply(failure(error))
    except Exception as error:
        reply(failure(error))


asyncio.run(main())
