"""What other programs read is what was written, whatever the names."""

import re

import networkx as nx  # type: ignore[import-untyped]
import pydot
import pytest
from hypothesis import example, given

from graphsearch.errors import MissingExtraError
from graphsearch.export import to_dot, to_graphml, to_mermaid, to_networkx
from graphsearch.text.rendering import safe_text
from tests.exporting.answers import HOSTILE, graph_of, graphs, team
from tests.properties import examples

# What of Mermaid's flowcharts is used: a line a node, a line an edge, labels in quotes without a character to escape.
LABEL = r'"((?:[^\W_]|[ ()]|(?<=[^\W_])[._/-](?=[^\W_])|#\d+;)+)"'
MERMAID = {"node": re.compile(rf"    (n\d+)\[{LABEL}\]"), "edge": re.compile(rf"    (n\d+) -->\|{LABEL}\| (n\d+)")}


# pydot reads with names that pyparsing has renamed; what graphsearch uses, it writes without.
parsed_by_pydot = pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")


def of_one(text):
    """A graph in which everything is called the same."""
    node = {"id": text, "name": text, "type": text, "text": text}
    return graph_of([node], [{"key": "e", "source": text, "target": text, "type": text}])


SINGLE = [of_one(text) for text in HOSTILE]


def drawn(test):
    """Over graphs of any texts, and over each of the hostile ones."""
    for graph in SINGLE:
        test = example(graph)(test)
    return examples(12)(given(graphs())(test))


def short(text):
    shown = safe_text(text) or "(unnamed)"
    return shown if len(shown) <= 80 else shown[:79] + "…"


def parsed(kind, line):
    """A line of Mermaid taken apart."""
    found = MERMAID[kind].fullmatch(line)
    assert found is not None, line
    return found


def read_dot(text):
    """The graphs that pydot reads."""
    return pydot.graph_from_dot_data(text) or []


def labels(graph):
    """What the pictures should say."""
    nodes = [f"{short(node['name'])} ({short(node['type'])})" for node in graph["nodes"]]
    scores = [link.get("score") for link in graph["links"]]
    types = [short(link["type"]) for link in graph["links"]]
    return nodes, [
        type_ if score is None else f"{type_} {score:.2f}" for type_, score in zip(types, scores, strict=True)
    ]


def ends(graph):
    places = {node["id"]: row for row, node in enumerate(graph["nodes"])}
    return [(f"n{places[link['source']]}", f"n{places[link['target']]}") for link in graph["links"]]


@drawn
def test_mermaid_is_lines_of_its_grammar_that_say_what_was_drawn(graph):
    first, *lines, last = to_mermaid(graph).split("\n")
    assert (first, last) == ("flowchart LR", "")
    nodes = [parsed("node", line) for line in lines[: len(graph["nodes"])]]
    edges = [parsed("edge", line) for line in lines[len(graph["nodes"]) :]]

    def decoded(label):
        return re.sub(r"#(\d+);", lambda code: chr(int(code[1])), label)

    assert ([decoded(node[2]) for node in nodes], [decoded(edge[2]) for edge in edges]) == labels(graph)
    assert [(edge[1], edge[3]) for edge in edges] == ends(graph)


@parsed_by_pydot
@drawn
def test_dot_is_parsed_to_what_was_drawn(graph):
    [dot] = read_dot(to_dot(graph))

    def label_of(element):
        label = element.get("label")
        assert label[0] == label[-1] == '"'
        return re.sub(r"\\(.)", r"\1", label[1:-1]).replace("&amp;", "&")

    nodes, edges = labels(graph)
    assert [label_of(node) for node in dot.get_nodes()] == nodes
    # parallel edges come back together
    parsed = [(edge.get_source(), edge.get_destination(), label_of(edge)) for edge in dot.get_edges()]
    assert sorted(parsed) == sorted((*pair, label) for pair, label in zip(ends(graph), edges, strict=True))


def writable(text):
    """What XML can hold of a text."""
    return re.sub("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", re.sub("\r\n?", "\n", text))


@drawn
def test_graphml_comes_back_whole(graph):
    text = to_graphml(graph)
    found = nx.parse_graphml(text, force_multigraph=True)
    for node in graph["nodes"]:
        wanted = {name: writable(value) for name, value in node.items() if name in ("id", "name", "type") or value}
        assert {"id": writable(node["id"]), **found.nodes[writable(node["id"])]} == wanted
    edges_found = {key: (source, target, data) for source, target, key, data in found.edges(keys=True, data=True)}
    assert edges_found == {
        link["key"]: (
            writable(link["source"]),
            writable(link["target"]),
            {"type": writable(link["type"]), **({"score": link["score"]} if "score" in link else {})},
        )
        for link in graph["links"]
    }


def test_networkx_has_every_text_as_it_is():
    for text, graph in zip(HOSTILE, SINGLE, strict=True):
        found = to_networkx(graph)
        assert (found.is_directed(), found.is_multigraph()) == (True, True)
        assert dict(found.nodes(data=True)) == {text: {"name": text, "type": text, "text": text}}
        assert list(found.edges(keys=True, data=True)) == [(text, text, "e", {"type": text})]


async def test_a_search_in_each_format():
    found = await (await team()).search("Ada", mode="neighborhood")
    assert '    n0 -->|"works_at 0.47"| n1\n' in to_mermaid(found)
    assert 'label="Ada (person)"' in to_dot(found)
    names = nx.get_node_attributes(nx.parse_graphml(to_graphml(found)), "name")
    assert set(names.values()) == {"Ada", "Bob", "Globex"}


@parsed_by_pydot
def test_nothing_is_drawn_of_nothing():
    nothing = graph_of([], [])
    assert to_mermaid(nothing) == "flowchart LR\n"
    [dot] = read_dot(to_dot(nothing))
    assert (dot.get_nodes(), dot.get_edges()) == ([], [])
    assert len(nx.parse_graphml(to_graphml(nothing))) == 0


@pytest.mark.parametrize("export", [to_networkx, to_graphml])
def test_what_is_not_installed_is_named(export, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"graphsearch\[graphs\]"):
        export(SINGLE[0])
    assert to_mermaid(SINGLE[0]).startswith("flowchart")
