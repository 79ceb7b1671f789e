"""Answers as node-link JSON, and such graphs as Mermaid, DOT, GraphML and networkx. Pure.

A node is an entity or a memory, a link a relation, or a mention that led from an entity to a memory or back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from graphsearch._support.lazy import load
from graphsearch.display.node_link import link_of, node_of
from graphsearch.display.printing import cut
from graphsearch.errors import InvalidInputError
from graphsearch.explaining.explanation import Explanation
from graphsearch.model import ElementKind, ElementRef, Triplet
from graphsearch.model import validation as check
from graphsearch.model.codec import encode
from graphsearch.modes.result import SearchResult
from graphsearch.ranking.result import FoundEntity
from graphsearch.recall.result import RecalledMemory, RecallResult
from graphsearch.text.rendering import safe_text
from graphsearch.traversal.paths import GraphPath

Graph: TypeAlias = Mapping[str, Any]
"""Node-link JSON, as `graphsearch.curation.Curator.entity_graph` returns it."""
_Json: TypeAlias = dict[str, Any]


@runtime_checkable
class MadeOfTriplets(Protocol):
    """Anything made of triplets: a `SearchResult`, a `graphsearch.context.ContextBlock`."""

    @property
    def triplets(self) -> tuple[Triplet, ...]:
        """The triplets, best first."""
        ...


Exportable: TypeAlias = MadeOfTriplets | RecallResult | Explanation | GraphPath | Graph


def plain_graph(shown: Exportable) -> Graph:
    """The graph of an answer as node-link JSON: distinct ``nodes`` and ``links``, in the order of the answer.

    Of a `SearchResult`, its triplets with their scores and the paths of its connections; of a
    `graphsearch.context.ContextBlock`, its triplets and memories; of a `RecallResult`, the memories and the paths of
    the graph channel to them; of an `Explanation`, its element, with its rank and the contribution of each factor; a
    `GraphPath`; and node-link JSON itself. Raises `InvalidInputError` for anything else, and links to missing nodes.
    """
    match shown:
        case Mapping():
            return _sound(shown)
        case Explanation():
            parts = _of_explanation(shown)
        case GraphPath():
            parts = _of_path(shown)
        case MadeOfTriplets() | RecallResult():
            parts = _of_answer(shown)
        case _:
            raise InvalidInputError("export", [f"no graph is shown by {type(shown).__name__}"])
    nodes, links = dict[str, _Json](), dict[str, _Json]()
    for part in parts:
        if "key" in part:
            links.setdefault(part["key"], part)
        elif len(part) > len(nodes.get(part["id"], ())):  # the first of the fullest descriptions
            nodes[part["id"]] = part
    reached = {end for link in links.values() for end in (link["source"], link["target"])}
    kept = [node for node in nodes.values() if not _is_bare(node) or node["id"] in reached]
    return {"directed": True, "multigraph": True, "graph": {}, "nodes": kept, "links": list(links.values())}


def _is_bare(node: _Json) -> bool:
    """Whether nothing is known of a node but that something leads through it."""
    return len(node) == len(_NODE)


_NODE: Final = ("id", "name", "type")
_LINK: Final = ("key", "type", "source", "target")


def _sound(graph: Graph) -> Graph:
    """A graph that somebody made. Raises `InvalidInputError` for JSON of another form."""
    try:
        known = {id_ for id_, *_ in [[each[field] for field in _NODE] for each in graph["nodes"]]}
        links = [[each[field] for field in _LINK] for each in graph["links"]]
    except (KeyError, TypeError) as error:
        raise InvalidInputError("node-link graph", [f"not as entity_graph gives it: {error!r}"]) from error
    lost = sorted({end for *_, source, target in links for end in (source, target)} - known)
    check.refuse("node-link graph", *(f"a link leads to {end!r}, which is no node" for end in lost))
    return graph


_Parts: TypeAlias = Iterator[_Json]

MENTIONED_IN: Final = "mentioned_in"
"""The type of a link from an entity to a memory."""
MENTIONS: Final = "mentions"
"""The type of a link from a memory to an entity."""


def _of_answer(answer: MadeOfTriplets | RecallResult) -> _Parts:
    for triplet in getattr(answer, "triplets", ()):
        yield from _of_triplet(triplet, {"score": triplet.score})
    if isinstance(answer, SearchResult):
        for connection in answer.connections:
            for path in connection.paths.values():
                yield from _of_path(path)
    if isinstance(answer, RecallResult):
        for anchor in answer.analysis.anchors:
            yield {"id": str(anchor.entity_id), "name": anchor.name, "type": "entity"}
    for recalled in getattr(answer, "memories", ()):
        yield _of_memory(recalled, {"score": recalled.score})
        yield from _of_walk(recalled.path)


def _of_explanation(explanation: Explanation) -> _Parts:
    found, element = explanation.found, explanation.element
    extra = {
        "score": explanation.score,
        "rank": explanation.rank,
        "kept_out": encode(explanation.kept_out),
        **{f"{part.name}_part": part.contribution for part in explanation.parts},
    }
    match found:
        case Triplet():
            yield from _of_triplet(found, extra)
        case RecalledMemory():
            yield _of_memory(found, extra)
            yield from _of_walk(found.path)
        case FoundEntity():
            yield node_of(found.entity, **extra)
        case None:
            yield {"id": _id(element), "name": element.id, "type": element.kind.value, **extra}


def _of_path(path: GraphPath) -> _Parts:
    yield from map(node_of, path.entities)
    yield from (link_of(relation, evidence=list(relation.evidence)) for relation in path.relations)


def _of_triplet(triplet: Triplet, extra: Mapping[str, Any]) -> _Parts:
    yield from map(node_of, (triplet.source, triplet.target))
    yield link_of(triplet.relation, evidence=list(triplet.relation.evidence), **extra)


def _of_memory(recalled: RecalledMemory, extra: Mapping[str, Any]) -> _Json:
    memory = recalled.memory
    return {
        "id": _id(ElementRef(ElementKind.MEMORY, memory.id)),
        "name": memory.subject or memory.text or memory.id,
        "type": ElementKind.MEMORY.value,
        "text": memory.text,
        "speaker": memory.speaker,
        "occurred_at": encode(memory.occurred_at),
        **extra,
    }


def _of_walk(path: Sequence[ElementRef]) -> _Parts:
    """The steps by which the graph led to a memory: entities and memories, possibly with a relation in between."""
    via, before = "", None
    for step in path:
        if step.kind is ElementKind.RELATION:
            via = step.id
            continue
        yield {"id": _id(step), "name": step.id, "type": step.kind.value}
        if before is not None:
            yield _step(before, step, via)
        via, before = "", step


def _step(before: ElementRef, after: ElementRef, relation: str) -> _Json:
    ends = {"source": _id(before), "target": _id(after)}
    if relation:
        return {**ends, "key": relation, "type": ElementKind.RELATION.value}
    type_ = MENTIONS if before.kind is ElementKind.MEMORY else MENTIONED_IN
    return {**ends, "key": f"{ends['source']} {type_} {ends['target']}", "type": type_}


def _id(element: ElementRef) -> str:
    """The UUID of entities and relations; ids of memories are arbitrary, so they are prefixed by their kind."""
    return f"memory:{element.id}" if element.kind is ElementKind.MEMORY else element.id


_LONGEST: Final = 80
"""Most characters of a label; GraphML has the full text."""


def to_mermaid(shown: Exportable) -> str:
    """A Mermaid flowchart, from left to right, of an answer (`graphsearch.export.plain_graph`).

    Names and types longer than 80 characters are cut. Mermaid renders at most 500 edges by default. Raises
    `InvalidInputError` for a value without a graph.
    """
    lines = _labelled(plain_graph(shown), _encoded, node='    {}["{}"]', edge='    {0} -->|"{2}"| {1}')
    return "\n".join(["flowchart LR", *lines, ""])


def to_dot(shown: Exportable) -> str:
    """A directed graph in Graphviz' DOT of an answer (`graphsearch.export.plain_graph`).

    Names and types longer than 80 characters are cut. Raises `InvalidInputError` for a value without a graph.
    """
    lines = _labelled(
        plain_graph(shown), _escaped, node='    {} [shape=box, label="{}"];', edge='    {0} -> {1} [label="{2}"];'
    )
    return "\n".join(["digraph graphsearch {", "    rankdir=LR;", *lines, "}", ""])


def _labelled(graph: Graph, escape: Callable[[str], str], *, node: str, edge: str) -> Iterator[str]:
    """Lines such as ``n0: Ada Lovelace (person)``, and ``n0, n1: works_at 0.54`` with a score if there is one."""
    names = {each["id"]: f"n{number}" for number, each in enumerate(graph["nodes"])}

    def label(text: str) -> str:
        return escape(cut(safe_text(text) or "(unnamed)", _LONGEST))

    for each in graph["nodes"]:
        yield node.format(names[each["id"]], f"{label(each['name'])} ({label(each['type'])})")
    for each in graph["links"]:
        score = each.get("score")
        shown = f" {score:.2f}" if isinstance(score, float) else ""
        yield edge.format(names[each["source"]], names[each["target"]], label(each["type"]) + shown)


# Mermaid reads a label as Markdown, looks for icons in it, and can quote a quotation mark only by its character code,
# #34;. So letters and digits, and a mark between two of them (works_at), are written as they are, all else by its code.
_MARK: Final = re.compile(r"(?<=[^\W_])[._/-](?=[^\W_])|([^\w ]|_)")


def _encoded(text: str) -> str:
    return _MARK.sub(lambda mark: f"#{ord(mark[1])};" if mark[1] else mark[0], text)


_ESCAPED: Final = str.maketrans({"\\": r"\\", '"': r"\"", "&": "&amp;"})  # Graphviz decodes HTML's entities


def _escaped(text: str) -> str:
    return text.translate(_ESCAPED)


def to_networkx(shown: Exportable) -> Any:
    """An answer (`graphsearch.export.plain_graph`) as a ``networkx.MultiDiGraph``, nothing cut.

    Nodes and edges are identified by their ids, the key of an edge being that of its relation, and have ``name``
    (nodes), ``type`` and their other properties as attributes. Raises `InvalidInputError` for a value without a graph,
    and `MissingExtraError` without the extra ``graphs``.
    """
    networkx = load("networkx", extra="graphs", purpose="a networkx graph")
    return networkx.node_link_graph(plain_graph(shown), edges="links")


def to_graphml(shown: Exportable) -> str:
    """`to_networkx` as GraphML, nothing cut: properties with a value, lists and objects as JSON text.

    XML cannot represent most control characters: they become U+FFFD, and every line break is a line feed. Raises what
    `to_networkx` raises.
    """
    networkx, graph = load("networkx", extra="graphs", purpose="GraphML"), plain_graph(shown)
    parts = {name: [*map(_writable, graph[name])] for name in ("nodes", "links")}
    drawn = networkx.node_link_graph({**parts, "directed": True, "multigraph": True, "graph": {}}, edges="links")
    return "\n".join(networkx.generate_graphml(drawn))


_NOT_XML: Final = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINE_END: Final = re.compile("\r\n?")


def _writable(part: Mapping[str, Any]) -> _Json:
    """The properties of a node or a link that XML can hold; its ids, its name and its type are there, if empty."""
    made: _Json = {}
    for name, value in part.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if type(value) in (int, float):
            made[name] = value
        elif value not in (None, "", [], (), {}) or name in (*_NODE, *_LINK):
            made[name] = _NOT_XML.sub("\ufffd", _LINE_END.sub("\n", text))
    return made
