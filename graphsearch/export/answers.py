"""Answers as plain graphs: nodes and edges of plain data, and these as Mermaid, DOT, GraphML and networkx. Pure.

A node is an entity or a memory, an edge a relation, or a mention that led from an entity to a memory or back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

import attrs

from graphsearch._support.lazy import load
from graphsearch.display.pages import cut
from graphsearch.display.picture import link_of, node_of
from graphsearch.errors import InvalidInputError
from graphsearch.explaining.explanation import Explanation
from graphsearch.model import ElementKind, ElementRef, Entity, Relation, Triplet
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


def value_of(value: Any) -> Value | None:
    """Numbers and text unchanged, other values as JSON text, which every format can hold; nothing for an empty list."""
    if value is None or (isinstance(value, Value) and not isinstance(value, bool)):
        return value
    return "" if value in ([], (), {}) else json.dumps(value, ensure_ascii=False)


def known(**attributes: Value | None) -> dict[str, Value]:
    """Attributes without those that have no value."""
    return {name: value for name, value in attributes.items() if value not in (None, "")}


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
    if isinstance(shown, PlainGraph):
        return shown
    if isinstance(shown, Mapping):
        return node_link_graph(shown)
    drawing = _Drawing()
    if isinstance(shown, Explanation):
        drawing.explanation(shown)
    elif isinstance(shown, GraphPath):
        drawing.path(shown)
    elif isinstance(shown, (MadeOfTriplets, RecallResult)):
        drawing.answer(shown)
    else:
        raise InvalidInputError("export", [f"no graph is shown by {type(shown).__name__}"])
    return drawing.done()


class _Drawing:
    """A graph under construction. The first description of an element is kept, unless only its id was known."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._unknown: dict[str, Node] = {}
        self._edges: dict[str, Edge] = {}

    def done(self) -> PlainGraph:
        edges = tuple(self._edges.values())
        ends = dict.fromkeys(end for edge in edges for end in (edge.source, edge.target))
        unknown = (self._unknown[end] for end in ends if end not in self._nodes)
        return PlainGraph((*self._nodes.values(), *unknown), edges)

    def answer(self, answer: MadeOfTriplets | RecallResult) -> None:
        for triplet in getattr(answer, "triplets", ()):
            self.triplet(triplet)
        if isinstance(answer, SearchResult):
            for connection in answer.connections:
                for path in connection.paths.values():
                    self.path(path)
        if isinstance(answer, RecallResult):
            for anchor in answer.analysis.anchors:
                self._unknown[str(anchor.entity_id)] = Node(id=str(anchor.entity_id), name=anchor.name, type="entity")
        for recalled in getattr(answer, "memories", ()):
            self.recalled(recalled)

    def explanation(self, explanation: Explanation) -> None:
        found = explanation.found
        extra = known(
            score=explanation.score,
            rank=explanation.rank,
            kept_out=None if explanation.kept_out is None else explanation.kept_out.value,
            **{f"{part.name}_part": part.contribution for part in explanation.parts},
        )
        if isinstance(found, Triplet):
            self.triplet(found, extra)
        elif isinstance(found, RecalledMemory):
            self.recalled(found, extra)
        elif isinstance(found, FoundEntity):
            self.entity(found.entity, extra)
        else:
            element = explanation.element
            self._node(Node(id=_id(element), name=element.id, type=element.kind.value, attributes=extra))

    def path(self, path: GraphPath) -> None:
        for entity in path.entities:
            self.entity(entity)
        for relation in path.relations:
            self.relation(relation)

    def triplet(self, triplet: Triplet, extra: Mapping[str, Value] | None = None) -> None:
        self.entity(triplet.source)
        self.entity(triplet.target)
        self.relation(triplet.relation, {"score": triplet.score} if extra is None else extra)

    def entity(self, entity: Entity, extra: Mapping[str, Value] | None = None) -> None:
        self._node(_node_of(node_of(entity), extra))

    def relation(self, relation: Relation, extra: Mapping[str, Value] | None = None) -> None:
        self._edge(_edge_of(link_of(relation, evidence=relation.evidence), extra))

    def recalled(self, recalled: RecalledMemory, extra: Mapping[str, Value] | None = None) -> None:
        memory = recalled.memory
        attributes = known(text=memory.text, speaker=memory.speaker, occurred_at=_time(memory.occurred_at))
        own = {**attributes, **({"score": recalled.score} if extra is None else extra)}
        node = Node(
            id=_id(ElementRef(ElementKind.MEMORY, memory.id)),
            name=memory.subject or memory.text or memory.id,
            type=ElementKind.MEMORY.value,
            attributes=own,
        )
        self._node(node)
        self._walk(recalled.path)

    def _walk(self, path: Sequence[ElementRef]) -> None:
        """The steps by which the graph led to a memory: entities and memories, possibly with a relation in between."""
        via, before = "", None
        for step in path:
            if step.kind is ElementKind.RELATION:
                via = step.id
                continue
            here = _id(step)
            self._unknown.setdefault(here, Node(id=here, name=step.id, type=step.kind.value))
            if before is not None:
                self._edge(_step(before, step, via))
            via, before = "", step

    def _node(self, node: Node) -> None:
        self._nodes.setdefault(node.id, node)

    def _edge(self, edge: Edge) -> None:
        self._edges.setdefault(edge.id, edge)


def _step(before: ElementRef, after: ElementRef, relation: str) -> Edge:
    source, target = _id(before), _id(after)
    if relation:
        return Edge(id=relation, source=source, target=target, type=ElementKind.RELATION.value)
    type_ = MENTIONS if before.kind is ElementKind.MEMORY else MENTIONED_IN
    return Edge(id=f"{source} {type_} {target}", source=source, target=target, type=type_)


def _id(element: ElementRef) -> str:
    """The UUID of entities and relations; ids of memories are arbitrary, so they are prefixed by their kind."""
    return f"memory:{element.id}" if element.kind is ElementKind.MEMORY else element.id


def _time(moment: datetime | None) -> str:
    return moment.isoformat() if moment else ""


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


def _node_of(node: Mapping[str, Any], extra: Mapping[str, Value] | None = None) -> Node:
    own = _plain(node, without=("id", "name", "type")) | dict(extra or {})
    return Node(id=str(node["id"]), name=str(node["name"]), type=str(node["type"]), attributes=own)


def _edge_of(link: Mapping[str, Any], extra: Mapping[str, Value] | None = None) -> Edge:
    own = _plain(link, without=("key", "source", "target", "type")) | dict(extra or {})
    source, target = str(link["source"]), str(link["target"])
    return Edge(id=str(link["key"]), source=source, target=target, type=str(link["type"]), attributes=own)


def _plain(element: Mapping[str, Any], *, without: Iterable[str]) -> dict[str, Value]:
    return known(**{name: value_of(value) for name, value in element.items() if name not in without})


_LONGEST: Final = 80
"""Most characters of a label; GraphML has the full text."""

_Escape: TypeAlias = Callable[[str], str]
"""How a format escapes arbitrary text."""

# Mermaid reads a label as Markdown, looks for icons in it, and can quote a quotation mark only by its character code,
# #34;. So letters and digits, and a mark between two of them (works_at), are written as they are, all else by its code.
_MARK: Final = re.compile(r"(?<=[^\W_])[._/-](?=[^\W_])|([^\w ]|_)")


def to_mermaid(shown: Exportable) -> str:
    """A Mermaid flowchart, from left to right, of an answer (`graphsearch.export.plain_graph`).

    Names and types longer than 80 characters are cut. Mermaid renders at most 500 edges by default. Raises
    `InvalidInputError` for a value without a graph.
    """
    graph = plain_graph(shown)
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    nodes = [f'    {names[node.id]}["{_node_label(node, _encoded)}"]' for node in graph.nodes]
    edges = [
        f'    {names[edge.source]} -->|"{_edge_label(edge, _encoded)}"| {names[edge.target]}' for edge in graph.edges
    ]
    return "\n".join(["flowchart LR", *nodes, *edges, ""])


def _encoded(text: str) -> str:
    return _MARK.sub(lambda mark: f"#{ord(mark[1])};" if mark[1] else mark[0], text)


_ESCAPED: Final = str.maketrans({"\\": r"\\", '"': r"\"", "&": "&amp;"})  # Graphviz decodes HTML's entities


def to_dot(shown: Exportable) -> str:
    """A directed graph in DOT of an answer (`graphsearch.export.plain_graph`).

    Names and types longer than 80 characters are cut. Raises `InvalidInputError` for a value without a graph, and
    `MissingExtraError` without the extra ``graphs``.
    """
    pydot = load("pydot", extra="graphs", purpose="DOT")
    graph = plain_graph(shown)
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    dot = pydot.Dot("graphsearch", graph_type="digraph", rankdir="LR")
    for node in graph.nodes:
        dot.add_node(pydot.Node(names[node.id], shape="box", label=_quoted(_node_label(node, _escaped))))
    for edge in graph.edges:
        dot.add_edge(pydot.Edge(names[edge.source], names[edge.target], label=_quoted(_edge_label(edge, _escaped))))
    return str(dot.to_string())


def _quoted(label: str) -> str:
    """Quoted here: pydot does not quote text that looks quoted, or like HTML, and a stored name may."""
    return f'"{label}"'


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


def _node_label(node: Node, escape: _Escape) -> str:
    """``Ada Lovelace (person)``."""
    return f"{escape(_short(node.name))} ({escape(_short(node.type))})"


def _edge_label(edge: Edge, escape: _Escape) -> str:
    """``works_at``, with its score if it has one: ``works_at 0.54``."""
    score, type_ = edge.attributes.get("score"), escape(_short(edge.type))
    return f"{type_} {score:.2f}" if isinstance(score, float) else type_


def _short(text: str) -> str:
    return cut(safe_text(text) or "(unnamed)", _LONGEST)
