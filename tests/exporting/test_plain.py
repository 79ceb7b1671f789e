"""What of an answer is exported."""

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.curation import Curator
from graphsearch.errors import InvalidInputError
from graphsearch.export import PlainGraph, plain_graph
from graphsearch.model import ElementKind, ElementRef, Principal
from graphsearch.modes.options import SearchMode
from tests.exporting.answers import LED, MOVED, team
from tests.graphs import days_ago, edge, people, person

HOPS = SearchMode.NEIGHBORHOOD


def drawn(graph: PlainGraph):
    """Edges as text, by the names of their ends."""
    names = {node.id: node.name for node in graph.nodes}
    return [f"{names[edge.source]} {edge.type} {names[edge.target]}" for edge in graph.edges]


async def test_a_search_is_its_triplets_with_their_scores():
    found = await (await team()).search("Ada", mode=HOPS)
    graph = plain_graph(found)
    assert drawn(graph) == [f"{each.source.name} {each.relation.type} {each.target.name}" for each in found.triplets]
    assert [each.attributes["score"] for each in graph.edges] == [each.score for each in found.triplets]
    by_id = {each.id: each for each in graph.edges}
    assert dict(by_id[str(MOVED.id)].attributes) == {
        "fact": "Ada works at Globex.",
        "kind": "semantic",
        "confidence": 1.0,
        "evidence": '["m1"]',
        "score": pytest.approx(0.468),
    }
    assert by_id[str(LED.id)].attributes["valid_from"] == days_ago(30).isoformat()
    [ada] = [node for node in graph.nodes if node.name == "Ada"]
    assert (ada.id, ada.type) == (str(person("Ada")), "person")
    assert dict(ada.attributes) == {
        "description": "Writes notes.",
        "aliases": '["Countess"]',
        "importance_weight": 0.5,
    }


async def test_what_connects_names_is_there_even_if_no_triplet_says_so():
    engine = await team()
    await engine.store.write(people(edge("Bob", "works_at", "Globex"), edge("Cyd", "likes", "Bob"), names="Cyd"))
    found = await engine.search("what do Ada and Cyd share?", mode=HOPS, limit=1)
    walked = {relation.id for each in found.connections for path in each.paths.values() for relation in path.relations}
    shown = {each.relation.id for each in found.triplets}
    assert walked - shown
    assert {edge.id for edge in plain_graph(found).edges} == {str(id_) for id_ in walked | shown}


async def test_a_recall_is_its_memories_and_how_the_graph_led_to_them():
    found = await (await team()).recall("what does Ada do at Globex in Paris?")
    graph = plain_graph(found)
    assert "Ada mentioned_in Ada works at Globex." in drawn(graph)
    nodes = {node.id: node for node in graph.nodes}
    assert nodes["memory:m1"].attributes["speaker"] == "Bob"
    assert nodes["memory:m2"].name == "Places"
    assert nodes["memory:m2"].attributes["text"] == "Globex is in Paris."
    assert nodes[str(person("Ada"))].type == "entity"  # a recall knows no more of it than its name


async def test_a_way_by_a_relation_and_back_to_a_memory_is_kept():
    recalled = (await (await team()).recall("Ada")).memories[0]
    refs = [
        ElementRef(ElementKind.ENTITY, str(person("Bob"))),
        ElementRef(ElementKind.RELATION, str(LED.id)),
        ElementRef(ElementKind.ENTITY, str(person("Ada"))),
        ElementRef(ElementKind.MEMORY, "m2"),
        ElementRef(ElementKind.ENTITY, str(person("Globex"))),
        ElementRef(ElementKind.MEMORY, "m1"),
    ]
    result = attrs.evolve(await (await team()).recall("Ada"), memories=(attrs.evolve(recalled, path=tuple(refs)),))
    edges = plain_graph(result).edges
    assert edges[0].id == str(LED.id)
    assert [each.type for each in edges] == ["relation", "mentioned_in", "mentions", "mentioned_in"]


async def test_a_block_is_its_triplets_and_memories():
    engine = await team()
    ada = Gate(CedarAuthorizer.default(), Principal(id="ada", projects=[engine.store.scope]))
    builder = ContextBuilder(engine)
    block = await builder.build("where does Ada work?", gate=ada, session_id="s", mode=HOPS)
    graph = plain_graph(block)
    assert {f"memory:{each.memory.id}" for each in block.memories} <= {node.id for node in graph.nodes}
    assert {str(each.relation.id) for each in block.triplets} <= {edge.id for edge in graph.edges}
    assert "Ada mentioned_in Ada works at Globex." in drawn(graph)


async def test_a_path_is_its_entities_and_relations():
    path = await (await team()).path("Bob", "Globex")
    assert path is not None
    graph = plain_graph(path)
    assert [node.name for node in graph.nodes] == ["Bob", "Ada", "Globex"]
    assert drawn(graph) == ["Bob reports_to Ada", "Ada works_at Globex"]


async def test_an_explanation_of_a_relation_tells_what_each_factor_gave():
    why = await (await team()).explain("Ada", MOVED.id, mode=HOPS)
    graph = plain_graph(why)
    assert drawn(graph) == ["Ada works_at Globex"]
    attributes = graph.edges[0].attributes
    assert (attributes["score"], attributes["rank"]) == (why.score, why.rank)
    assert "kept_out" not in attributes
    parts = [float(value) for name, value in attributes.items() if name.endswith("_part")]
    assert sum(parts) == pytest.approx(why.score)


async def test_an_explanation_of_a_memory_or_an_entity_is_a_node():
    engine = await team()
    memory = plain_graph(await engine.explain("Ada", "m1"))
    assert memory.nodes[0].id == "memory:m1"
    assert {"rank", "score"} < set(memory.nodes[0].attributes)
    entity = plain_graph(await engine.explain("Ada", ElementRef(ElementKind.ENTITY, "Ada")))
    assert [node.name for node in entity.nodes] == ["Ada"]
    assert {"rank", "score", "connection_part"} & set(entity.nodes[0].attributes)


async def test_an_explanation_of_what_has_no_score_is_a_node_that_says_so():
    why = await (await team()).explain("weather", "m1")
    [node] = plain_graph(why).nodes
    assert (node.name, node.type, node.attributes["kept_out"]) == ("m1", "memory", "not_found")


async def test_a_graph_around_an_entity_is_its_nodes_and_links():
    found = await Curator(await team()).entity_graph("Ada")
    graph = plain_graph(found)
    assert [node.id for node in graph.nodes] == [node["id"] for node in found["nodes"]]
    assert sorted(drawn(graph)) == ["Ada works_at Globex", "Bob reports_to Ada"]
    [ada] = [node for node in graph.nodes if node.name == "Ada"]
    assert (ada.attributes["hops"], ada.attributes["aliases"]) == (0, '["Countess"]')
    assert "labels" not in ada.attributes


async def test_what_node_link_json_says_twice_is_there_once():
    found = await Curator(await team()).entity_graph("Ada")
    assert plain_graph({**found, "nodes": found["nodes"] * 2, "links": found["links"] * 2}) == plain_graph(found)


async def test_a_plain_graph_is_itself():
    graph = plain_graph(await (await team()).search("Ada", mode=HOPS))
    assert plain_graph(graph) is graph


async def test_nothing_found_is_an_empty_graph():
    assert plain_graph(await (await team()).search("weather", mode=HOPS)) == PlainGraph((), ())


@pytest.mark.parametrize(
    ("graph", "fault"),
    [
        ({}, "KeyError"),
        ({"nodes": 5, "links": []}, "TypeError"),
        ({"nodes": ["a"], "links": []}, "AttributeError|TypeError"),
        ({"nodes": [], "links": [{"key": "k", "source": "a", "target": "b", "type": "t"}]}, "'a', which is no node"),
        ("a graph", "no graph is shown by str"),
        (None, "no graph is shown by NoneType"),
    ],
)
def test_what_is_no_graph_is_refused(graph, fault):
    with pytest.raises(InvalidInputError, match=fault):
        plain_graph(graph)
