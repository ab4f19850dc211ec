"""The Python SDK's client through a shim: lists the tools, saves, loads.

Its arguments are the shim's command.
"""

import asyncio
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import get_default_environment, stdio_client


async def main() -> None:
    passed = {name: value for name, value in os.environ.items() if name.startswith("ANCHORD_")}
    server = StdioServerParameters(
        command=sys.argv[1], args=sys.argv[2:], env={**get_default_environment(), **passed}
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        names = {tool.name for tool in (await session.list_tools()).tools}
        assert {"memory_load", "memory_save"} <= names, names
        saved = await session.call_tool("memory_save", {"session_summary": "from the Python SDK"})
        failed = getattr(saved, "isError", None) or getattr(saved, "is_error", None)
        assert not failed, saved
        loaded = await session.call_tool("memory_load", {})
        assert "from the Python SDK" in loaded.content[0].text, loaded


asyncio.run(main())
