"""Exports of answers and graphs: node-link JSON, and such graphs as Mermaid, Graphviz DOT, GraphML, networkx. Pure.

A node is an entity, a link a relation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from graphsearch._support.lazy import load
from graphsearch.display.node_link import link_of, node_of
from graphsearch.display.printing import cut
from graphsearch.errors import InvalidInputError
from graphsearch.model import Triplet
from graphsearch.model import validation as check
from graphsearch.modes.result import SearchResult
from graphsearch.text.rendering import safe_text
from graphsearch.traversal.paths import GraphPath

__all__ = ["Exportable", "plain_graph", "to_dot", "to_graphml", "to_mermaid", "to_networkx"]

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


Exportable: TypeAlias = MadeOfTriplets | GraphPath | Graph


def plain_graph(shown: Exportable) -> Graph:
    """The graph of an answer as node-link JSON: distinct ``nodes`` and ``links``, in the order of the answer.

    Of a `SearchResult`, its triplets with their scores and the paths of its connections; of a
    `graphsearch.context.ContextBlock`, its triplets; a `GraphPath`; and node-link JSON itself. Raises
    `InvalidInputError` for anything else, and links to missing nodes.
    """
    match shown:
        case Mapping():
            return _sound(shown)
        case GraphPath():
            parts = _of_path(shown)
        case MadeOfTriplets():
            parts = _of_answer(shown)
        case _:
            raise InvalidInputError("export", [f"no graph is shown by {type(shown).__name__}"])
    nodes, links = dict[str, _Json](), dict[str, _Json]()
    for part in parts:
        if "key" in part:
            links.setdefault(part["key"], part)
        else:
            nodes.setdefault(part["id"], part)
    kept = {"nodes": list(nodes.values()), "links": list(links.values())}
    return {"directed": True, "multigraph": True, "graph": {}, **kept}


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


def _of_answer(answer: MadeOfTriplets) -> _Parts:
    for triplet in answer.triplets:
        yield from map(node_of, (triplet.source, triplet.target))
        yield link_of(triplet.relation, evidence=list(triplet.relation.evidence), score=triplet.score)
    if isinstance(answer, SearchResult):
        for connection in answer.connections:
            for path in connection.paths.values():
                yield from _of_path(path)


def _of_path(path: GraphPath) -> _Parts:
    yield from map(node_of, path.entities)
    yield from (link_of(relation, evidence=list(relation.evidence)) for relation in path.relations)


_LONGEST: Final = 80
"""Most characters of a label; GraphML has the full text."""


def to_mermaid(shown: Exportable) -> str:
    """A Mermaid flowchart, from left to right, of an answer (`graphsearch.export.plain_graph`).

    Names and types longer than 80 characters are cut. Mermaid renders at most 500 edges by default. Raises
    `InvalidInputError` for a value without a graph.
    """

    def encode(text: str) -> str:
        return _MARK.sub(lambda mark: f"#{ord(mark[1])};" if mark[1] else mark[0], text)

    lines = _labelled(plain_graph(shown), encode, node='    {}["{}"]', edge='    {0} -->|"{2}"| {1}')
    return "\n".join(["flowchart LR", *lines, ""])


def to_dot(shown: Exportable) -> str:
    """A directed graph in Graphviz' DOT of an answer (`graphsearch.export.plain_graph`).

    Names and types longer than 80 characters are cut. Raises `InvalidInputError` for a value without a graph.
    """
    lines = _labelled(
        plain_graph(shown),
        lambda text: text.translate(_ESCAPED),
        node='    {} [shape=box, label="{}"];',
        edge='    {0} -> {1} [label="{2}"];',
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

_ESCAPED: Final = str.maketrans({"\\": r"\\", '"': r"\"", "&": "&amp;"})  # Graphviz decodes HTML's entities


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
