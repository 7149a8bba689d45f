"""Holds a chat with `limpid acp` through the package agent-client-protocol, which nobody here wrote, and prints what it saw.

    python acp-client.py FOLDER ANSWER PROMPT... -- LIMPID WORDS...

Each PROMPT is sent in turn; one that begins with "cancel:" is cancelled when its answer begins. Questions are
answered by the option of the kind ANSWER. At the end the session is closed, loaded in another, listed and deleted.
"""

import asyncio
import json
import os
import sys

import acp
from acp import schema

TIMEOUT = 60


class Editor(acp.Client):
    def __init__(self, answer):
        self.answer = answer
        self.seen = []
        self.running = asyncio.Event()

    def on_connect(self, conn):
        pass

    async def request_permission(self, session_id, tool_call, options, **kwargs):
        dumped = tool_call.model_dump(mode="json", by_alias=True, exclude_none=True)
        kinds = [option.kind for option in options]
        self.seen.append({"question": dumped, "kinds": kinds})
        for option in options:
            if option.kind == self.answer:
                outcome = schema.AllowedOutcome(outcome="selected", option_id=option.option_id)
                return schema.RequestPermissionResponse(outcome=outcome)
        return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))

    async def session_update(self, session_id, update, **kwargs):
        dumped = update.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.seen.append(dumped)
        if dumped.get("sessionUpdate") == "agent_message_chunk":
            self.running.set()


async def main():
    words = sys.argv[1:]
    at = words.index("--")
    folder, answer, *prompts = words[:at]
    editor = Editor(answer)
    report = {"stops": []}
    async with acp.spawn_agent_process(editor, *words[at + 1 :], env=dict(os.environ)) as (conn, process):
        begun = await conn.initialize(protocol_version=acp.PROTOCOL_VERSION)
        report["agent"] = begun.agent_info.name
        session = await conn.new_session(cwd=folder, mcp_servers=[])
        report["modes"] = [mode.id for mode in session.modes.available_modes]
        report["options"] = [option.id for option in session.config_options]
        for prompt in prompts:
            cancels = prompt.startswith("cancel:")
            editor.running.clear()
            asked = conn.prompt(session_id=session.session_id, prompt=[acp.text_block(prompt.removeprefix("cancel:"))])
            asked = asyncio.ensure_future(asked)
            if cancels:
                await editor.running.wait()
                await conn.cancel(session_id=session.session_id)
            report["stops"].append((await asked).stop_reason)
        report["seen"] = editor.seen
        await conn.close_session(session_id=session.session_id)
        editor.seen = []
        await conn.load_session(cwd=folder, session_id=session.session_id, mcp_servers=[])
        report["loaded"] = editor.seen
        listed = await conn.list_sessions()
        report["listed"] = [listed_one.session_id for listed_one in listed.sessions] == [session.session_id]
    print(json.dumps(report))


asyncio.run(asyncio.wait_for(main(), TIMEOUT))
