"""Reads the recording server's answers with the providers' own Python packages, so that the server that tests stand on
speaks as providers do.

Usage: python sdk-streams.py URL

The server answers everything with the text "Hello there." and a call of look_up with {"query": "tea"}.
"""

import sys

TEXT, NAME, ARGUMENTS = "Hello there.", "look_up", {"query": "tea"}
URL = sys.argv[1]
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


def chat():
    import json

    import openai

    client = openai.OpenAI(base_url=f"{URL}/v1", api_key="k", max_retries=0)
    tool = {"type": "function", "function": {"name": NAME, "parameters": SCHEMA}}
    said = [{"role": "user", "content": "hi"}]
    with client.chat.completions.stream(model="m", messages=said, tools=[tool]) as stream:
        whole = stream.get_final_completion()
    message = whole.choices[0].message
    call = message.tool_calls[0].function
    return message.content, call.name, json.loads(call.arguments)


def responses():
    import json

    import openai

    client = openai.OpenAI(base_url=f"{URL}/v1", api_key="k", max_retries=0)
    tool = {"type": "function", "name": NAME, "parameters": SCHEMA, "strict": False}
    with client.responses.stream(model="m", input="hi", tools=[tool]) as stream:
        whole = stream.get_final_response()
    call = next(item for item in whole.output if item.type == "function_call")
    return whole.output_text, call.name, json.loads(call.arguments)


def anthropic_messages():
    import anthropic

    client = anthropic.Anthropic(base_url=URL, api_key="k", max_retries=0)
    tool = {"name": NAME, "input_schema": SCHEMA}
    said = [{"role": "user", "content": "hi"}]
    with client.messages.stream(model="m", max_tokens=100, messages=said, tools=[tool]) as stream:
        whole = stream.get_final_message()
    text = "".join(block.text for block in whole.content if block.type == "text")
    call = next(block for block in whole.content if block.type == "tool_use")
    return text, call.name, call.input


def gemini():
    from google import genai

    client = genai.Client(api_key="k", http_options={"base_url": URL, "api_version": "v1beta"})
    text, call = "", None
    for chunk in client.models.generate_content_stream(model="m", contents="hi"):
        content = chunk.candidates[0].content
        for part in (content and content.parts) or []:
            text += part.text or ""
            call = part.function_call or call
    return text, call.name, call.args


def ollama_chat():
    import ollama

    text, call = "", None
    for chunk in ollama.Client(host=URL).chat(model="m", messages=[{"role": "user", "content": "hi"}], stream=True):
        text += chunk.message.content or ""
        call = chunk.message.tool_calls[0].function if chunk.message.tool_calls else call
    return text, call.name, dict(call.arguments)


failed = False
for ask in (chat, responses, anthropic_messages, gemini, ollama_chat):
    try:
        heard = ask()
        assert heard == (TEXT, NAME, ARGUMENTS), heard
        print(f"{ask.__name__}: the answer was read")
    except Exception as error:
        failed = True
        print(f"{ask.__name__}: {type(error).__name__}: {str(error)[:1500]}")
sys.exit(1 if failed else 0)
