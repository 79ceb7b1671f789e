"""Answers as plain graphs: nodes and edges of plain data, and these as Mermaid, DOT, GraphML and networkx. Pure.

A node is an entity or a memory, an edge a relation, or a mention that led from an entity to a memory or back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

import attrs

from graphsearch._support.lazy import load
from graphsearch.display.node_link import link_of, node_of
from graphsearch.display.printing import cut
from graphsearch.errors import InvalidInputError
from graphsearch.explaining.explanation import Explanation
from graphsearch.model import ElementKind, ElementRef, Triplet
from graphsearch.model.codec import encode
from graphsearch.modes.result import SearchResult
from graphsearch.ranking.result import FoundEntity
from graphsearch.recall.result import RecalledMemory, RecallResult
from graphsearch.text.rendering import safe_text
from graphsearch.traversal.paths import GraphPath

Value: TypeAlias = str | int | float


@attrs.frozen(kw_only=True)
class Node:
    """An entity or a memory; ``attributes`` are its other known properties."""

    id: str
    name: str
    type: str
    attributes: Mapping[str, Value] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Edge:
    """A directed edge between two nodes, by their ids; ``attributes`` are its other known properties."""

    id: str
    source: str
    target: str
    type: str
    attributes: Mapping[str, Value] = attrs.field(factory=dict)


@attrs.frozen
class PlainGraph:
    """Nodes and edges, distinct, in the order of the answer; both ends of every edge are among the nodes."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def _known(attributes: Mapping[str, Any], *without: str) -> dict[str, Value]:
    """Attributes with a value: numbers and text, and anything else as JSON text, which every format can hold."""
    found = {name: value for name, value in attributes.items() if name not in without}
    return {
        name: value if type(value) in (str, int, float) else json.dumps(value, ensure_ascii=False)
        for name, value in found.items()
        if value not in (None, "", [], (), {})
    }


MENTIONED_IN: Final = "mentioned_in"
"""The type of an edge from an entity to a memory."""
MENTIONS: Final = "mentions"
"""The type of an edge from a memory to an entity."""


@runtime_checkable
class MadeOfTriplets(Protocol):
    """Anything made of triplets: a `SearchResult`, a `graphsearch.context.ContextBlock`."""

    @property
    def triplets(self) -> tuple[Triplet, ...]:
        """The triplets, best first."""
        ...


Exportable: TypeAlias = PlainGraph | MadeOfTriplets | RecallResult | Explanation | GraphPath | Mapping[str, Any]


def plain_graph(shown: Exportable) -> PlainGraph:
    """The graph of an answer.

    Of a `SearchResult`, its triplets with their scores and the paths of its connections; of a
    `graphsearch.context.ContextBlock`, its triplets and memories; of a `RecallResult`, the memories and the paths of
    the graph channel to them; of an `Explanation`, its element, with its rank and the contribution of each factor; a
    `GraphPath`; and node-link JSON as returned by `graphsearch.curation.Curator.entity_graph`. Raises
    `InvalidInputError` for anything else.
    """
    match shown:
        case PlainGraph():
            return shown
        case Mapping():
            return node_link_graph(shown)
        case Explanation():
            parts = _of_explanation(shown)
        case GraphPath():
            parts = _of_path(shown)
        case MadeOfTriplets() | RecallResult():
            parts = _of_answer(shown)
        case _:
            raise InvalidInputError("export", [f"no graph is shown by {type(shown).__name__}"])
    return _collected(parts)


_Parts: TypeAlias = Iterator[Node | Edge]


def _collected(parts: _Parts) -> PlainGraph:
    """Each element as first described; those of which only the id is known if an edge reaches them."""
    nodes, unknown, edges = dict[str, Node](), dict[str, Node](), dict[str, Edge]()
    for part in parts:
        if isinstance(part, Edge):
            edges.setdefault(part.id, part)
        else:
            (nodes if part.attributes else unknown).setdefault(part.id, part)
    ends = dict.fromkeys(end for edge in edges.values() for end in (edge.source, edge.target))
    return PlainGraph((*nodes.values(), *(unknown[end] for end in ends if end not in nodes)), tuple(edges.values()))


def _of_answer(answer: MadeOfTriplets | RecallResult) -> _Parts:
    for triplet in getattr(answer, "triplets", ()):
        yield from _of_triplet(triplet, {"score": triplet.score})
    if isinstance(answer, SearchResult):
        for connection in answer.connections:
            for path in connection.paths.values():
                yield from _of_path(path)
    if isinstance(answer, RecallResult):
        for anchor in answer.analysis.anchors:
            yield Node(id=str(anchor.entity_id), name=anchor.name, type="entity")
    for recalled in getattr(answer, "memories", ()):
        yield _of_memory(recalled, {"score": recalled.score})
        yield from _of_walk(recalled.path)


def _of_explanation(explanation: Explanation) -> _Parts:
    found, element = explanation.found, explanation.element
    extra = {
        "score": explanation.score,
        "rank": explanation.rank,
        "kept_out": None if explanation.kept_out is None else explanation.kept_out.value,
        **{f"{part.name}_part": part.contribution for part in explanation.parts},
    }
    match found:
        case Triplet():
            yield from _of_triplet(found, extra)
        case RecalledMemory():
            yield _of_memory(found, extra)
            yield from _of_walk(found.path)
        case FoundEntity():
            yield _node_of(node_of(found.entity, **extra))
        case None:
            yield Node(id=_id(element), name=element.id, type=element.kind.value, attributes=_known(extra))


def _of_path(path: GraphPath) -> _Parts:
    yield from (_node_of(node_of(entity)) for entity in path.entities)
    yield from (_edge_of(link_of(relation, evidence=relation.evidence)) for relation in path.relations)


def _of_triplet(triplet: Triplet, extra: Mapping[str, Any]) -> _Parts:
    yield from (_node_of(node_of(entity)) for entity in (triplet.source, triplet.target))
    yield _edge_of(link_of(triplet.relation, evidence=triplet.relation.evidence, **extra))


def _of_memory(recalled: RecalledMemory, extra: Mapping[str, Any]) -> Node:
    memory = recalled.memory
    own = {"text": memory.text, "speaker": memory.speaker, "occurred_at": encode(memory.occurred_at), **extra}
    return Node(
        id=_id(ElementRef(ElementKind.MEMORY, memory.id)),
        name=memory.subject or memory.text or memory.id,
        type=ElementKind.MEMORY.value,
        attributes=_known(own),
    )


def _of_walk(path: Sequence[ElementRef]) -> _Parts:
    """The steps by which the graph led to a memory: entities and memories, possibly with a relation in between."""
    via, before = "", None
    for step in path:
        if step.kind is ElementKind.RELATION:
            via = step.id
            continue
        yield Node(id=_id(step), name=step.id, type=step.kind.value)
        if before is not None:
            yield _step(before, step, via)
        via, before = "", step


def _step(before: ElementRef, after: ElementRef, relation: str) -> Edge:
    source, target = _id(before), _id(after)
    if relation:
        return Edge(id=relation, source=source, target=target, type=ElementKind.RELATION.value)
    type_ = MENTIONS if before.kind is ElementKind.MEMORY else MENTIONED_IN
    return Edge(id=f"{source} {type_} {target}", source=source, target=target, type=type_)


def _id(element: ElementRef) -> str:
    """The UUID of entities and relations; ids of memories are arbitrary, so they are prefixed by their kind."""
    return f"memory:{element.id}" if element.kind is ElementKind.MEMORY else element.id


def node_link_graph(graph: Mapping[str, Any]) -> PlainGraph:
    """The nodes and links. Raises `InvalidInputError` for JSON of another form, and for links to missing nodes."""
    try:
        nodes = {node.id: node for node in map(_node_of, graph["nodes"])}
        edges = {edge.id: edge for edge in map(_edge_of, graph["links"])}
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInputError("node-link graph", [f"not as entity_graph gives it: {error!r}"]) from error
    ends = {end for edge in edges.values() for end in (edge.source, edge.target)}
    if lost := sorted(ends - nodes.keys()):
        raise InvalidInputError("node-link graph", [f"a link leads to {end!r}, which is no node" for end in lost])
    return PlainGraph(tuple(nodes.values()), tuple(edges.values()))


def _node_of(node: Mapping[str, Any]) -> Node:
    own = _known(node, "id", "name", "type")
    return Node(id=str(node["id"]), name=str(node["name"]), type=str(node["type"]), attributes=own)


def _edge_of(link: Mapping[str, Any]) -> Edge:
    own = _known(link, "key", "source", "target", "type")
    source, target = str(link["source"]), str(link["target"])
    return Edge(id=str(link["key"]), source=source, target=target, type=str(link["type"]), attributes=own)


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


def _labelled(graph: PlainGraph, escape: Callable[[str], str], *, node: str, edge: str) -> Iterator[str]:
    """Lines such as ``n0: Ada Lovelace (person)``, and ``n0, n1: works_at 0.54`` with a score if there is one."""
    names = {each.id: f"n{number}" for number, each in enumerate(graph.nodes)}

    def label(text: str) -> str:
        return escape(cut(safe_text(text) or "(unnamed)", _LONGEST))

    for point in graph.nodes:
        yield node.format(names[point.id], f"{label(point.name)} ({label(point.type)})")
    for line in graph.edges:
        score = line.attributes.get("score")
        shown = f" {score:.2f}" if isinstance(score, float) else ""
        yield edge.format(names[line.source], names[line.target], label(line.type) + shown)


# Mermaid reads a label as Markdown, looks for icons in it, and can quote a quotation mark only by its character code,
# #34;. So letters and digits, and a mark between two of them (works_at), are written as they are, all else by its code.
_MARK: Final = re.compile(r"(?<=[^\W_])[._/-](?=[^\W_])|([^\w ]|_)")


def _encoded(text: str) -> str:
    return _MARK.sub(lambda mark: f"#{ord(mark[1])};" if mark[1] else mark[0], text)


_ESCAPED: Final = str.maketrans({"\\": r"\\", '"': r"\"", "&": "&amp;"})  # Graphviz decodes HTML's entities


def _escaped(text: str) -> str:
    return text.translate(_ESCAPED)


_NOT_XML: Final = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINE_END: Final = re.compile("\r\n?")


def to_networkx(shown: Exportable) -> Any:
    """An answer (`graphsearch.export.plain_graph`) as a ``networkx.MultiDiGraph``, nothing cut.

    Nodes and edges are identified by their ids, the key of an edge being that of its relation, and have ``name``
    (nodes), ``type`` and their other known properties as attributes. Raises `InvalidInputError` for a value without a
    graph, and `MissingExtraError` without the extra ``graphs``.
    """
    return _drawn(plain_graph(shown))


def to_graphml(shown: Exportable) -> str:
    """`to_networkx` as GraphML, nothing cut.

    XML cannot represent most control characters: they become U+FFFD, and every line break is a line feed. Raises what
    `to_networkx` raises.
    """
    networkx = load("networkx", extra="graphs", purpose="GraphML")
    return "\n".join(networkx.generate_graphml(_drawn(plain_graph(shown), text=_writable)))


def _drawn(graph: PlainGraph, text: Callable[[str], str] = str) -> Any:
    """A networkx graph with ``text`` applied to every text."""

    def attributes(element: Node | Edge) -> dict[str, Value]:
        values = {**element.attributes, "type": element.type}
        return {name: text(value) if isinstance(value, str) else value for name, value in values.items()}

    drawn = load("networkx", extra="graphs", purpose="a networkx graph").MultiDiGraph()
    for node in graph.nodes:
        drawn.add_node(text(node.id), **{**attributes(node), "name": text(node.name)})
    for edge in graph.edges:
        drawn.add_edge(text(edge.source), text(edge.target), key=text(edge.id), **attributes(edge))
    return drawn


def _writable(text: str) -> str:
    return _NOT_XML.sub("\ufffd", _LINE_END.sub("\n", text))
