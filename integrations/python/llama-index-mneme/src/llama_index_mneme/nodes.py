"""Nodes as documents of the server."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from llama_index.core.schema import BaseNode, MetadataMode, TextNode
from llama_index.core.vector_stores.utils import metadata_dict_to_node
from mneme import DocumentNotFoundError, Mneme, NamespaceNotFoundError

NODE, NODE_ID, REF_DOC_ID = "_node", "_node_id", "_ref_doc_id"
"""Keys of a document's metadata: the node without its text, as JSON, and what it is filtered by."""

_READS = 8

T = TypeVar("T")
R = TypeVar("R")


def document(node: BaseNode) -> dict[str, Any]:
    """A node as the server takes it. ValueError where it has no text, or a vector of another model."""
    if node.embedding:
        raise ValueError("the server embeds with its own model; pass embed_model=ServerEmbedding() to the index")
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    if not text.strip():
        raise ValueError(f"the node {node.node_id} has no text")
    whole = node.model_dump(mode="json", exclude={"embedding", "text", "text_resource"})
    kept = {"type": node.class_name(), "characters": len(text), "node": whole}
    metadata = {key: value for key, value in node.metadata.items() if _holds(key, value)}
    metadata |= {NODE: json.dumps(kept, ensure_ascii=False), NODE_ID: node.node_id}
    if node.ref_doc_id:
        metadata[REF_DOC_ID] = node.ref_doc_id
    return {"id": node.node_id, "text": text, "metadata": metadata}


def node(id: str, text: str, metadata: Mapping[str, Any]) -> BaseNode:
    """The node that a document was; of one that something else wrote, its text and metadata."""
    if NODE not in metadata:
        return TextNode(id_=id, text=text, metadata=dict(metadata))
    kept = json.loads(metadata[NODE])
    packed = {"_node_type": kept["type"], "_node_content": json.dumps(kept["node"])}
    return metadata_dict_to_node(packed, text=text)


def is_whole(text: str, metadata: Mapping[str, Any]) -> bool:
    """Whether a passage is all of its node."""
    return NODE in metadata and json.loads(metadata[NODE])["characters"] == len(text)


def plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """A document's metadata as its node has it."""
    return dict(json.loads(metadata[NODE])["node"]["metadata"]) if NODE in metadata else dict(metadata)


def read(client: Mneme, namespace: str, id: str) -> BaseNode | None:
    """The node of this id, if it is there."""
    try:
        one = client.documents.get(namespace, id)
    except (DocumentNotFoundError, NamespaceNotFoundError):
        return None
    return node(one.id, one.text, one.metadata.to_dict())


def each(function: Callable[[T], R], of: Sequence[T]) -> list[R]:
    """The function of each, several at once, in their order."""
    with ThreadPoolExecutor(_READS) as pool:
        return list(pool.map(function, of))


def _holds(key: str, value: Any) -> bool:
    if key in (NODE, NODE_ID, REF_DOC_ID) or not 1 <= len(key) <= 128 or key.startswith("$"):
        return False
    match value:
        case bool() | str():
            return True
        case int():
            return abs(value) < 2**53
        case float():
            return math.isfinite(value)
        case list():
            return len(value) <= 1000 and all(isinstance(one, str) for one in value)
    return False
