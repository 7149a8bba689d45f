"""llama.cpp's own server out of the Python package xllamacpp, for tests and measures.

Usage: python llama-server.py MODEL.gguf [WINDOW] [THREADS] [embeddings [mean]] [two-slots] [tools]

With `embeddings` it serves those of a model of embeddings; with `mean` as well, of any model.
With `two-slots` it keeps what two conversations evaluated, each in a window of its own.
With `tools` its chat template knows tools.

Prints its address when it listens on a free port of the loopback, and ends when standard input does.
"""

import os
import sys

import xllamacpp

words = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = words[0]
params.n_ctx = int(words[1]) if len(words) > 1 else 4096
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(words[2]) if len(words) > 2 else 1
if "two-slots" in words[3:]:
    # The whole window is shared out.
    params.n_parallel = 2
    params.n_ctx *= 2
else:
    params.n_parallel = 1
if "tools" in words[3:]:
    params.use_jinja = True
    params.chat_template = (
        "{% if tools %}<|im_start|>system\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n{% endif %}"
        "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}"
        "{% for call in message.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}"
        "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
# A model of embeddings looks at a text at once, so a batch has to hold the longest one.
params.embedding = "embeddings" in words[3:]
if "mean" in words[3:]:
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
params.hostnames = ["127.0.0.1"]
params.port = 0
params.verbosity = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
# The server's threads do not end by themselves.
os._exit(0)
