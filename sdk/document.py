"""Prints docs/openapi.yaml as the generators of the SDKs read it.

Answers that are errors are left out, since the fronts read their two shapes by hand: as part
of each operation they would make the generated code four times as large. An enumeration
that may be null says so by its type alone, which generators name better. Metadata and filters
become objects of anything: the server checks them, and a map is what each language has for them.
What speaks mem0's or OpenAI's protocol is left out: who wants it has their clients, and the fronts have memories and
documents of their own.
"""

import json
import sys
from typing import Any

from ruamel.yaml import YAML

METHODS = ("get", "post", "put", "patch", "delete")
FREE = ("Filter", "Metadata")
PROTOCOLS = ("mem0.", "openai.")
THEIR_SCHEMAS = ("Mem0", "Openai", "OpenAI")
THEIR_TAGS = ("mem0", "OpenAI")


def plain(node: Any) -> Any:
    if isinstance(node, dict):
        made = {key: plain(value) for key, value in node.items()}
        kinds, values = made.get("type"), made.get("enum")
        if isinstance(kinds, list) and "null" in kinds and isinstance(values, list):
            made["enum"] = [value for value in values if value is not None]
        return made
    if isinstance(node, list):
        return [plain(value) for value in node]
    return node


def main(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        document = plain(YAML(typ="safe").load(file))
    for path, item in list(document["paths"].items()):
        if any(item.get(method, {}).get("operationId", "").startswith(PROTOCOLS) for method in METHODS):
            del document["paths"][path]
            continue
        for method in METHODS:
            if method in item:
                answers = item[method]["responses"]
                # What a body of JSON lines holds is of no use to a generator.
                for kind, content in item[method].get("requestBody", {}).get("content", {}).items():
                    if kind == "application/x-ndjson":
                        content["schema"] = {"type": "string", "format": "binary"}
                item[method]["responses"] = {status: answer for status, answer in answers.items() if status < "400"}
    document["components"].pop("responses", None)
    schemas = {name: schema for name, schema in document["components"]["schemas"].items() if not name.startswith(THEIR_SCHEMAS)}
    document["components"]["schemas"] = schemas
    document["tags"] = [tag for tag in document["tags"] if tag["name"] not in THEIR_TAGS]
    for name, schema in schemas.items():
        schema.pop("title", None)
        if name in FREE:
            schemas[name] = {"type": "object", "description": schema["description"], "additionalProperties": True}
    json.dump(document, sys.stdout, indent=1, ensure_ascii=False)


main(sys.argv[1])
