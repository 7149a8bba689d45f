"""Says a list of messages to nanobot, in one conversation, and prints the version of the package.

Standard input is one JSON object: `config` is the path of its settings, `says` the messages.
"""

import asyncio
import importlib.metadata
import json
import sys

from nanobot.nanobot import Nanobot


async def main() -> None:
    given = json.load(sys.stdin)
    bot = Nanobot.from_config(given["config"])
    for text in given["says"]:
        await bot.run(text, session_key="cli:day")
    print(importlib.metadata.version("nanobot-ai"))


asyncio.run(main())
