"""A LiteLLM proxy for tests, in front of one provider that speaks Anthropic Messages.

Use: litellm-proxy.py ADDRESS MODEL. Prints the proxy's address once it answers, and ends when standard input does. Models
are asked for under the name MODEL; the key is `sk-test-secret`.
"""

import json
import os
import socket
import sys
import tempfile
import threading
import time
import urllib.request

address, model = sys.argv[1:3]
os.environ["LITELLM_MASTER_KEY"] = "sk-test-secret"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["LITELLM_TELEMETRY"] = "False"
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]

parameters = {"model": "anthropic/claude-sonnet-4-5", "api_base": address, "api_key": "behind"}
config = {
    "model_list": [{"model_name": model, "litellm_params": parameters}],
    "litellm_settings": {"telemetry": False},
    "general_settings": {"master_key": "sk-test-secret"},
}
# What it says is for nobody; standard output has the address and nothing else.
out = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def announce():
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health/liveliness", timeout=1)
            break
        except OSError:
            time.sleep(0.1)
    print(f"http://127.0.0.1:{port}", file=out, flush=True)


def end_with_input():
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=announce, daemon=True).start()
threading.Thread(target=end_with_input, daemon=True).start()

with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
    json.dump(config, file)
    file.flush()
    from litellm import run_server

    run_server(["--config", file.name, "--host", "127.0.0.1", "--port", str(port)], standalone_mode=False)
