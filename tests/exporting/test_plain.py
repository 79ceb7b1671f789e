"""What of an answer is exported."""

import pytest

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.curation import Curator
from graphsearch.errors import InvalidInputError
from graphsearch.export import plain_graph
from graphsearch.model import Principal
from graphsearch.modes.result import SearchMode
from tests.exporting.answers import LED, MOVED, team
from tests.graphs import days_ago, edge, people, person

HOPS = SearchMode.NEIGHBORHOOD


def drawn(graph):
    """Links as text, by the names of their ends."""
    names = {node["id"]: node["name"] for node in graph["nodes"]}
    return [f"{names[link['source']]} {link['type']} {names[link['target']]}" for link in graph["links"]]


async def test_a_search_is_its_triplets_with_their_scores():
    found = await (await team()).search("Ada", mode=HOPS)
    graph = plain_graph(found)
    assert drawn(graph) == [f"{each.source.name} {each.relation.type} {each.target.name}" for each in found.triplets]
    assert [each["score"] for each in graph["links"]] == [each.score for each in found.triplets]
    by_id = {each["key"]: each for each in graph["links"]}
    moved = by_id[str(MOVED.id)]
    assert (moved["fact"], moved["evidence"]) == ("Ada works at Globex.", ["m1"])
    assert moved["score"] == pytest.approx(0.468)
    assert by_id[str(LED.id)]["valid_from"] == days_ago(30).isoformat()
    [ada] = [node for node in graph["nodes"] if node["name"] == "Ada"]
    assert (ada["id"], ada["type"]) == (str(person("Ada")), "person")
    assert (ada["description"], ada["aliases"]) == ("Writes notes.", ["Countess"])


async def test_what_connects_names_is_there_even_if_no_triplet_says_so():
    engine = await team()
    await engine.store.write(people(edge("Bob", "works_at", "Globex"), edge("Cyd", "likes", "Bob"), names="Cyd"))
    found = await engine.search("what do Ada and Cyd share?", mode=HOPS, limit=1)
    walked = {relation.id for each in found.connections for path in each.paths.values() for relation in path.relations}
    shown = {each.relation.id for each in found.triplets}
    assert walked - shown
    assert {link["key"] for link in plain_graph(found)["links"]} == {str(id_) for id_ in walked | shown}


async def test_a_block_is_its_triplets():
    engine = await team()
    ada = Gate(CedarAuthorizer.default(), Principal(id="ada", projects=[engine.store.scope]))
    builder = ContextBuilder(engine)
    block = await builder.build("where does Ada work?", gate=ada, session_id="s", mode=HOPS)
    graph = plain_graph(block)
    assert block.triplets
    assert [str(each.relation.id) for each in block.triplets] == [link["key"] for link in graph["links"]]


async def test_a_path_is_its_entities_and_relations():
    path = await (await team()).path("Bob", "Globex")
    assert path is not None
    graph = plain_graph(path)
    assert [node["name"] for node in graph["nodes"]] == ["Bob", "Ada", "Globex"]
    assert drawn(graph) == ["Bob reports_to Ada", "Ada works_at Globex"]


async def test_a_graph_around_an_entity_is_itself():
    found = await Curator(await team()).entity_graph("Ada")
    assert plain_graph(found) is found
    assert sorted(drawn(found)) == ["Ada works_at Globex", "Bob reports_to Ada"]


async def test_nothing_found_is_an_empty_graph():
    graph = plain_graph(await (await team()).search("weather", mode=HOPS))
    assert (graph["nodes"], graph["links"]) == ([], [])


@pytest.mark.parametrize(
    ("graph", "fault"),
    [
        ({}, "KeyError"),
        ({"nodes": 5, "links": []}, "TypeError"),
        ({"nodes": ["a"], "links": []}, "TypeError"),
        ({"nodes": [], "links": [{"key": "k", "source": "a", "target": "b", "type": "t"}]}, "'a', which is no node"),
        ("a graph", "no graph is shown by str"),
        (None, "no graph is shown by NoneType"),
    ],
)
def test_what_is_no_graph_is_refused(graph, fault):
    with pytest.raises(InvalidInputError, match=fault):
        plain_graph(graph)
