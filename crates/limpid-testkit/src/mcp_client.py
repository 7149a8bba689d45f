"""A client by the protocol's own package for Python: carries out what stands in a file, and prints a line of JSON for each.

mcp_client.py MODE FILE WORDS…: starts the server by these words, or speaks to it when they are one address.
"""

import asyncio
import json
import os
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters


def plain(value):
    return value.model_dump(mode="json", by_alias=True, exclude_none=True) if hasattr(value, "model_dump") else value


async def carry_out(client, step):
    match step:
        case {"call": name, **rest}:
            return await client.call_tool(name, rest.get("with", {}))
        case {"prompt": name}:
            return await client.get_prompt(name)
        case {"read": uri}:
            return await client.read_resource(uri)
        case {"list": "tools"}:
            return await client.list_tools()
        case {"list": "prompts"}:
            return await client.list_prompts()
        case {"list": "resources"}:
            return await client.list_resources()
        case {"list": "templates"}:
            return await client.list_resource_templates()


async def main():
    mode, steps, *words = sys.argv[1:]
    server = words[0]
    if not server.startswith("http"):
        server = StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
    async with Client(server, mode=mode) as client:
        about = {"name": client.server_info.name, "revision": client.protocol_version, "says": client.instructions}
        print(json.dumps(about), flush=True)
        for step in json.load(open(steps)):
            try:
                said = plain(await carry_out(client, step))
            except Exception as error:
                said = {"refused": str(error)}
            print(json.dumps(said), flush=True)


asyncio.run(main())
