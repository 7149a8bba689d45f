"""Chats with Limpid through the package openai, which nobody here wrote, and prints what it saw as JSON.

    python openai-client.py ADDRESS TOKEN
"""

import json
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key=sys.argv[2], timeout=60)
seen = {"models": [model.id for model in client.models.list()]}
seen["model"] = client.models.retrieve(seen["models"][-1]).id

said = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
raw = client.chat.completions.with_raw_response.create(model="agent", messages=said, temperature=0.2)
first = raw.parse()
seen["first"] = [first.choices[0].message.content, first.choices[0].finish_reason, first.usage.total_tokens > 0]
conversation = raw.headers["x-limpid-conversation"]
seen["ignored"] = raw.headers["x-limpid-ignored"]

# The client says the whole conversation again; it is the same one.
said += [{"role": "assistant", "content": first.choices[0].message.content}, {"role": "user", "content": "more"}]
with client.chat.completions.with_streaming_response.create(
    model="agent", messages=said, stream=True, stream_options={"include_usage": True}
) as response:
    seen["same"] = response.headers["x-limpid-conversation"] == conversation
    pieces = list(response.parse())
seen["stream"] = [
    "".join(choice.delta.content or "" for piece in pieces for choice in piece.choices),
    pieces[-2].choices[0].finish_reason,
    pieces[-1].usage.total_tokens > 0,
]

# The helper that puts the pieces of a stream together.
with client.chat.completions.stream(model="agent", user="ada", messages=[{"role": "user", "content": "again"}]) as stream:
    stream.until_done()
    seen["helper"] = stream.get_final_completion().choices[0].message.content

for name, wrong in {"unknown": {"model": "no/such"}, "form": {"response_format": {"type": "json_object"}}}.items():
    try:
        client.chat.completions.create(**({"model": "agent", "messages": [{"role": "user", "content": "x"}]} | wrong))
    except openai.APIStatusError as error:
        seen[name] = [type(error).__name__, error.code, error.param]
try:
    openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="wrong").models.list()
except openai.APIStatusError as error:
    seen["wrong"] = [type(error).__name__, error.code]
print(json.dumps(seen))
