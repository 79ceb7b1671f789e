"""Small graphs are drawn."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.curation import Curator
from graphsearch.display.picture import MOST, picture
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Batch
from graphsearch.testing.samples import person, relation
from graphsearch.traversal.k_hop import KHopTraversal
from tests.display.reading import Page
from tests.exporting.answers import anything, team


def node(id_, name, hops):
    return {"id": id_, "name": name, "hops": hops}


def link(source, target, type_):
    return {"source": source, "target": target, "type": type_}


@st.composite
def graphs(draw):
    hops = [0, *draw(st.lists(st.integers(0, 3), max_size=MOST - 1))]
    dots = [node(str(row), draw(anything), far) for row, far in enumerate(hops)]
    ends = st.sampled_from([dot["id"] for dot in dots])
    return dots, draw(st.lists(st.builds(link, ends, ends, anything), max_size=20))


def drawn(html):
    """The labels, and the ends of the lines."""
    root = ET.fromstring(html)  # noqa: S314 - our own
    texts = [text.text or "" for text in root.iter("text")]
    return root, texts


@given(graphs())
def test_every_node_is_inside_and_every_text_only_a_text(graph):
    dots, lines = graph
    html = picture(dots, lines)
    Page(html)
    left, top, width, height = map(float, re.findall(r'viewBox="([^"]*)"', html)[0].split())
    boxes = re.findall(r'<rect [^>]*x="([^"]*)" y="([^"]*)" width="([^"]*)" height="22"', html)
    assert len(boxes) == len(dots)
    for x, y, wide in boxes:
        assert left <= float(x) <= float(x) + float(wide) <= left + width + 0.2
        assert top <= float(y) <= float(y) + 22 <= top + height
    assert html.count("<line ") == len(
        {(line["source"], line["target"]) for line in lines if line["source"] != line["target"]}
    )
    assert picture(dots, lines) == html


def test_a_ring_a_hop_and_arrows_point_at_targets():
    dots = [node("a", "Ada", 0), node("b", "Bob", 1), node("c", "Cyd", 2)]
    root, texts = drawn(picture(dots, [link("b", "a", "knows"), link("b", "a", "likes"), link("b", "c", "met")]))
    assert texts == ["knows, likes", "met", "Ada", "Bob", "Cyd"]
    to_ada, to_cyd = root.iter("line")
    assert [to_ada.get(end) for end in ("x1", "y1", "x2", "y2")] == ["-272", "0", "0", "0"]
    assert [to_cyd.get(end) for end in ("x2", "y2")] == ["544", "0"]
    assert [path.get("transform") for path in root.iter("path")] == [
        "translate(-103.4 0) rotate(0)",
        "translate(233.9 0) rotate(0)",
    ]


@pytest.mark.parametrize(("others", "pictures"), [(2, 1), (MOST - 1, 1), (MOST, 0)])
async def test_a_graph_around_an_entity_is_drawn_if_it_is_small(others, pictures):
    engine = GraphSearchEngine(store=(await team()).store, traversal=KHopTraversal(fan_out=100))
    hub, rest = person("Hub"), [person(f"Person {number}") for number in range(others)]
    joined = [relation(each, hub) for each in rest]
    await engine.store.write(Batch(entities=[hub, *rest], relations=joined))
    found = await Curator(engine).entity_graph("Hub", limit=others + 1)
    assert len(found["nodes"]) == others + 1
    assert found._repr_html_().count("<svg ") == pictures
