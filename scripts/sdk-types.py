"""Compares bodies of requests with the types that the providers' own Python packages have for them.

Usage: python sdk-types.py FOLDER

FOLDER holds bodies as they were sent, one a file: `<protocol>-<anything>.json`. Prints each that a type does not have,
with the place and the reason, then how many were right; ends with 1 when one was wrong. A key that a type does not name
is wrong too: a provider would refuse it or, worse, overlook it.
"""

import collections
import json
import pathlib
import sys
import typing

# The packages' types say `Iterable`, which is looked at only when somebody goes through it. A body holds lists.
typing.Iterable = typing.List


class File:
    """An open file, which no body holds."""

    def __class_getitem__(cls, _):
        return cls


typing.IO = File

import pydantic
import typing_extensions

FORBID = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=True)


def strict(module):
    """Has every dictionary type of a package refuse keys that it does not name."""
    seen = 0
    for name, found in list(sys.modules.items()):
        if not name.startswith(module):
            continue
        for value in list(vars(found).values()):
            if isinstance(value, type) and typing_extensions.is_typeddict(value):
                value.__pydantic_config__ = FORBID
                seen += 1
            elif isinstance(value, type) and issubclass(value, pydantic.BaseModel) and value is not pydantic.BaseModel:
                value.model_config["extra"] = "forbid"
                seen += 1
    assert seen, module


def load_all(package):
    import importlib
    import pkgutil

    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(found.name)


def sequences(module):
    """The packages' own name for a list that is no text."""
    module.SequenceNotStr = typing.List


import openai._types

sequences(openai._types)
import openai.types

load_all(openai.types)
strict("openai.types")

import anthropic._types

if hasattr(anthropic._types, "SequenceNotStr"):
    sequences(anthropic._types)
import anthropic.types

load_all(anthropic.types)
strict("anthropic.types")

import google.genai.types as gemini
import ollama._types as ollama

strict("ollama._types")
for value in vars(ollama).values():
    if isinstance(value, type) and issubclass(value, pydantic.BaseModel) and value is not pydantic.BaseModel:
        value.model_rebuild(force=True)

from anthropic.types.message_create_params import MessageCreateParamsStreaming as AnthropicBody
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming as ChatBody
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming as ResponsesBody

TYPES = {
    "openai-chat": pydantic.TypeAdapter(ChatBody),
    "openai-responses": pydantic.TypeAdapter(ResponsesBody),
    "anthropic": pydantic.TypeAdapter(AnthropicBody),
    "ollama": pydantic.TypeAdapter(ollama.ChatRequest),
}

GEMINI = {
    "contents": pydantic.TypeAdapter(typing.List[gemini.Content]),
    "systemInstruction": pydantic.TypeAdapter(gemini.Content),
    "generationConfig": pydantic.TypeAdapter(gemini.GenerationConfig),
    "tools": pydantic.TypeAdapter(typing.List[gemini.Tool]),
    "toolConfig": pydantic.TypeAdapter(gemini.ToolConfig),
}

# What other services than OpenAI take in a body of Chat Completions, and whose it is.
OF_OTHERS = {
    "cache_prompt": "llama.cpp",
    "chat_template_kwargs": "llama.cpp, vLLM",
    "id_slot": "llama.cpp",
    "num_ctx": "LM Studio",
    "provider": "OpenRouter",
    "reasoning": "OpenRouter",
    "thinking": "DeepSeek, Z.ai",
    "usage": "OpenRouter",
}
OF_OTHERS_IN_MESSAGES = {
    "provider_specific_fields": "LiteLLM",
    "reasoning": "vLLM",
    "reasoning_content": "DeepSeek, Moonshot",
    "reasoning_details": "OpenRouter",
    "thinking_blocks": "LiteLLM",
}


def of_openai(body):
    """A body of Chat Completions without what only others take."""
    body = {key: value for key, value in body.items() if key not in OF_OTHERS}
    for message in body.get("messages", []):
        for key in OF_OTHERS_IN_MESSAGES:
            message.pop(key, None)
        for call in message.get("tool_calls", []):
            for part in (call, call.get("function", {})):
                # LiteLLM's, and that of Gemini's own address for Chat Completions.
                part.pop("provider_specific_fields", None)
                part.pop("extra_content", None)
        content = message.get("content")
        if isinstance(content, list):
            # OpenRouter's marks for a cache, and Mistral's reasoning.
            for part in content:
                part.pop("cache_control", None)
            message["content"] = [part for part in content if part.get("type") != "thinking"]
    return body


def check(protocol, body):
    if protocol == "gemini":
        unknown = set(body) - set(GEMINI)
        if unknown:
            raise ValueError(f"no field of generateContent: {sorted(unknown)}")
        for key, value in body.items():
            GEMINI[key].validate_python(value)
        return
    if protocol == "openai-chat":
        body = of_openai(body)
    if protocol == "openai-responses":
        # Once a server said that it does not know an item's id, the item goes without.
        for item in body["input"]:
            if item.get("type") == "reasoning":
                item.setdefault("id", "rs_1")
    if protocol == "anthropic" and not body["model"].startswith("claude-"):
        # Models of before its newest revision take these where the owner sets them; Claude's models of today do not.
        body = {key: value for key, value in body.items() if key not in ("temperature", "top_p", "top_k")}
    TYPES[protocol].validate_python(body)


def protocol_of(name):
    return next((known for known in [*TYPES, "gemini"] if name.startswith(known + "-")), None)


def main():
    wrong, right = collections.Counter(), collections.Counter()
    said = set()
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
        protocol = protocol_of(file.name)
        body = json.loads(file.read_bytes())
        # Services that do not stream are asked without it.
        body.setdefault("stream", True) if protocol in ("openai-chat", "openai-responses", "anthropic") else None
        try:
            check(protocol, body)
            right[protocol] += 1
        except Exception as error:
            wrong[protocol] += 1
            reason = str(error)
            if reason[:300] not in said:
                said.add(reason[:300])
                print(f"{file.name}: {reason[:1500]}\n")
    for protocol in [*TYPES, "gemini"]:
        print(f"{protocol}: {right[protocol]} bodies fit, {wrong[protocol]} do not")
    silent = [protocol for protocol in [*TYPES, "gemini"] if not right[protocol]]
    if silent:
        print(f"no body of {', '.join(silent)} was looked at")
    sys.exit(1 if wrong or silent else 0)


main()
