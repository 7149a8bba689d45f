"""llama.cpp's own server out of the Python package xllamacpp, for tests and measures.

Usage: python llama-server.py MODEL.gguf [WINDOW] [THREADS] [embeddings [mean]] [two-slots]

With `embeddings` it serves those of a model of embeddings; with `mean` as well, of any model.
With `two-slots` it keeps what two conversations evaluated, each in a window of its own.

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
