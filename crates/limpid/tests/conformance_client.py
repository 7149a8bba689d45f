"""The program as a client of the protocol's conformance suite: sets a server up as an owner does, logs in where the scenario is
about that, and has a model call each of its tools in a chat.

conformance_client.py LIMPID URL
"""

import fcntl
import http.server
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import urllib.request

LIMPID, URL = sys.argv[1], sys.argv[2]
SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
# The document that the scenario about such documents knows; nobody fetches it.
METADATA = "https://conformance-test.local/client-metadata.json"
CONTEXT = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")


class Model(http.server.BaseHTTPRequestHandler):
    """A model that calls every tool of the server once, with what its schema asks for."""

    # The name by which each is called, and the server's own.
    tools = {}
    told = ""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answered = asked["messages"][-1]["role"] == "tool"
        if answered:
            Model.told = str(asked["messages"][-1]["content"])
        declared = {tool["function"]["name"]: tool["function"]["parameters"] for tool in asked.get("tools", [])}
        wanted = [name for name in self.tools if name in declared]
        delta = {"role": "assistant", "content": "Done."}
        if wanted and not answered:
            calls = [
                {"index": n, "id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments(self.tools[name], declared[name]))}}
                for n, name in enumerate(wanted)
            ]
            delta = {"role": "assistant", "tool_calls": calls}
        finish = "tool_calls" if "tool_calls" in delta else "stop"
        chunks = [{"choices": [{"index": 0, "delta": delta}]}, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}]
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_GET(self):
        self.send_error(404)

    def log_message(self, *_):
        pass


def arguments(name, schema):
    for call in CONTEXT.get("toolCalls", CONTEXT.get("tool_calls", [])):
        if call["name"] == name:
            return call.get("arguments") or {}
    some = {"number": 5, "integer": 5, "boolean": True, "string": "a text", "array": [], "object": {}}
    fields = schema.get("properties", {})
    return {field: some.get(fields[field].get("type"), "a text") for field in fields}


def limpid(*words, **more):
    return subprocess.run([LIMPID, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, **more)


def log_in(words):
    """Does what an owner does in their browser."""
    running = subprocess.Popen([LIMPID, *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in running.stderr:
        sys.stderr.write(line)
        if line.startswith("http"):
            try:
                urllib.request.urlopen(line.strip(), timeout=10).read()
            except Exception as error:
                sys.stderr.write(f"browser: {error}\n")
    return running.wait()


def chat_at_a_terminal():
    """Does what an owner does who says yes to a form, and nothing else to any of its fields."""
    own, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    running = subprocess.Popen([LIMPID, "chat", "Call every tool."], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    shown, answered = b"", 0
    while True:
        try:
            more = os.read(own, 65536)
        except OSError:
            break
        if not more:
            break
        shown += more
        # Whoever waits for a line asks first where the cursor is. The question may come in two parts.
        while answered < shown.count(b"\x1b[6n"):
            answered += 1
            os.write(own, b"\x1b[1;1R" + (b"\r" if b"1 of " in shown else b"y\r"))
    sys.stderr.write(shown.decode(errors="replace"))
    return running.wait()


def main():
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    home = tempfile.mkdtemp()
    os.environ.update(LIMPID_HOME=home, OPENAI_API_KEY="sk-test-0123456789", CLIENT_SECRET=str(CONTEXT.get("client_secret")))
    os.environ["OPENAI_BASE_URL"] = f"http://127.0.0.1:{model.server_address[1]}/v1"
    settings = f'[tools]\ndefer = false\n[mcp.servers.s]\nurl = "{URL}"\n'
    open(f"{home}/limpid.toml", "w").write(settings)
    if SCENARIO.startswith("auth/"):
        words = ["mcp", "login", "s"]
        if "client_id" in CONTEXT:
            words += ["--client-id", CONTEXT["client_id"], "--client-secret-env", "CLIENT_SECRET"]
        if SCENARIO == "auth/basic-cimd":
            words += ["--client-id", METADATA]
        if log_in(words) != 0:
            return 1
    looked = limpid("mcp", "enable", "s")
    sys.stderr.write(looked.stderr)
    if "log in with `limpid mcp login s`" in looked.stderr and log_in(["mcp", "login", "s"]) == 0:
        looked = limpid("mcp", "enable", "s")
        sys.stderr.write(looked.stderr)
    # The look says which command is the yes to what it showed.
    yes = re.search(r"When you have read this: limpid (mcp enable .*)", looked.stderr)
    if yes:
        enabled = limpid(*yes.group(1).split())
        sys.stderr.write(enabled.stderr)
        if enabled.returncode != 0:
            return 1
    elif looked.returncode != 0:
        return 1
    listed = json.loads(limpid("mcp", "list", "--json").stdout)
    Model.tools = {tool["called"]: tool["name"] for tool in listed["servers"][0]["tools"]}
    for name in Model.tools.values():
        settings += f'[mcp.servers.s.tools.{json.dumps(name)}]\neffect = "look"\n'
    open(f"{home}/limpid.toml", "w").write(settings)
    if SCENARIO.startswith("elicitation"):
        return chat_at_a_terminal()
    chat = limpid("chat", "Call every tool.")
    sys.stderr.write(chat.stdout + chat.stderr)
    # The model is told which command grants what the login lacks; here it tells it the owner word for word.
    grant = re.search(r"to grant them: limpid ([^\n\"\\]+)", Model.told)
    if SCENARIO == "auth/scope-step-up" and grant and log_in(grant.group(1).split()) == 0:
        chat = limpid("chat", "Call every tool again.")
        sys.stderr.write(chat.stdout + chat.stderr)
    return chat.returncode


sys.exit(main())
