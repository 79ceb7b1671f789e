"""Questions that a model turns into queries, on every store."""

import json
from itertools import pairwise
from typing import Any

import pytest

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError, LLMAnswerError, LLMUnavailableError, MissingDependencyError
from graphsearch.model import Batch, Entity, Relation
from graphsearch.modes import natural_language
from graphsearch.modes.natural_language import NaturalLanguage
from graphsearch.modes.result import GraphQuery, SearchMode
from graphsearch.testing.fakes import EchoLLM
from graphsearch.traversal.pagerank import PersonalizedPageRank
from tests.gates import no_secrets
from tests.graphs import days_ago, edge, people, person
from tests.test_hidden import SECRET

APOLLO, TLS = Entity(type="project", name="Apollo"), Entity(type="tool", name="TLS module")
LINKS = [
    edge("Ada", "knows", "Bob", confidence=0.9),
    edge("Cyd", "knows", "Ada", confidence=0.8),
    edge("Bob", "knows", "Dan", confidence=0.7),
    edge("Ada", "hired", "Dan", valid_from=days_ago(700), valid_to=days_ago(400)),
]
WORK = [
    Relation(source_id=person("Bob"), type="leads", target_id=APOLLO.id),
    Relation(source_id=APOLLO.id, type="uses", target_id=TLS.id),
]


async def written(store):
    await store.write(people(*LINKS, names="Ada Bob Cyd Dan"))
    await store.write(Batch(entities=[APOLLO, TLS], relations=WORK))


@pytest.fixture(scope="module")
async def team(kept):
    await written(kept)
    return kept


async def ask(store, query, question="what of Ada?", *, engine=None, gate: Any = ALLOW_ALL, **options: Any) -> Any:
    """What a question finds that a model turns into a query."""
    model = EchoLLM(*[json.dumps(each) for each in (query if isinstance(query, list) else [query])])
    asked = GraphSearchEngine(store=store, llm=model, **(engine or {}))
    return await asked.search(question, mode=SearchMode.NATURAL_LANGUAGE, gate=gate, **options), model.asked


def facts(found):
    return [(each.source.name, each.relation.type, each.target.name) for each in found.triplets]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"anchors": ["Ada"]}, [("Ada", "knows", "Bob"), ("Cyd", "knows", "Ada")]),
        ({"anchors": ["Ada"], "direction": "out"}, [("Ada", "knows", "Bob")]),
        ({"anchors": ["ada"], "direction": "in"}, [("Cyd", "knows", "Ada")]),
        (
            {"anchors": ["Ada"], "direction": "out", "hops": 2, "relation_types": ["knows"]},
            [("Ada", "knows", "Bob"), ("Bob", "knows", "Dan")],
        ),
        ({"anchors": ["Ada"], "hops": 2, "entity_types": ["project"]}, [("Bob", "leads", "Apollo")]),
        ({"anchors": ["Ada", "Dan"], "hops": 1, "relation_types": ["leads"]}, []),
        ({"anchors": ["the TLS module"]}, [("Apollo", "uses", "TLS module")]),
        ({"relation_types": ["leads", "uses"]}, [("Bob", "leads", "Apollo"), ("Apollo", "uses", "TLS module")]),
        ({"relation_types": ["leads"], "direction": "in"}, [("Bob", "leads", "Apollo")]),
        ({"relation_types": ["leads"], "entity_types": ["tool"]}, []),
        ({"entity_types": ["tool"]}, [("Apollo", "uses", "TLS module")]),
        ({"entity_types": ["tool", "project"], "direction": "out"}, [("Apollo", "uses", "TLS module")]),
        ({"anchors": ["Ada"], "relation_types": ["hired"]}, []),
    ],
    ids=str,
)
async def test_a_query_finds_what_it_says(team, query, expected):
    found, asked = await ask(team, query)
    assert set(facts(found)) == set(expected)
    assert found.found == len(expected)
    assert len(asked) == 1
    assert found.graph_query == GraphQuery(**query)
    assert (found.mode, bool(found.reason)) == ("natural_language", not expected)


async def test_a_window_of_time_shows_what_held_in_it(scoped):
    await written(scoped)
    hired = [("Ada", "hired", "Dan")]
    for window, expected in (
        ({"since": "2024", "until": "2024"}, hired),
        ({"since": "2024-12"}, hired),
        ({"until": "2024-12-31"}, hired),
        ({"since": "2026"}, []),
        ({"until": "2023"}, []),
    ):
        query = {"anchors": ["Ada"], "relation_types": ["hired"], **window}
        assert facts((await ask(scoped, query))[0]) == expected, window


async def test_a_question_cannot_leave_the_time_that_is_looked_at(scoped):
    await written(scoped)
    query = {"anchors": ["Ada"], "relation_types": ["hired"]}
    now = scoped.clock.now()
    cases: list[tuple[dict[str, str], dict[str, Any]]] = [
        ({"since": "2024-12"}, {"as_of": days_ago(600), "known_at": now}),
        ({"until": "2025-01"}, {"since": days_ago(100)}),
    ]
    for window, options in cases:
        found, _ = await ask(scoped, {"anchors": ["Ada"], **window}, **options)
        assert (facts(found), found.reason) == ([], "another time is asked about")
    found, _ = await ask(scoped, query | {"until": "2024-12"}, since=days_ago(900), as_of=days_ago(500), known_at=now)
    assert facts(found) == [("Ada", "hired", "Dan")]
    assert found.as_of == days_ago(500)
    future, _ = await ask(scoped, {"anchors": ["Ada"], "since": "2030"})
    assert (future.as_of.year, len(future.triplets)) == (2030, 2)


async def test_scores_limits_paths_and_anchors_are_those_of_any_search(scoped):
    await written(scoped)
    found, _ = await ask(scoped, {"anchors": ["Ada"], "hops": 2, "limit": 2}, "who is around Ada?")
    plain = await GraphSearchEngine(store=scoped).search("Ada", mode=SearchMode.NEIGHBORHOOD, max_hops=2, limit=2)
    assert found.triplets == plain.triplets
    (anchor,) = found.anchors
    assert found.query[slice(*anchor.spans[0])] == "Ada"
    assert found.analysis.plan
    few, _ = await ask(scoped, {"anchors": ["Ada"], "hops": 2}, limit=1)
    assert len(few.triplets) == 1
    assert set(found.timings) >= {"schema", "llm", "seeds", "traversal", "scoring", "hydration", "total"}


async def test_names_are_connected(scoped):
    await written(scoped)
    found, _ = await ask(scoped, {"anchors": ["Ada", "Dan"], "hops": 2, "direction": "both"})
    assert [(each.entity.name, len(each.paths)) for each in found.connections] == [("Bob", 2), ("Apollo", 2)]


@pytest.mark.parametrize("traversal", [PersonalizedPageRank(), PersonalizedPageRank(method="push")])
async def test_any_traversal_runs_a_query(scoped, traversal):
    await written(scoped)
    query = {"anchors": ["Ada"], "direction": "out", "hops": 2, "relation_types": ["knows"]}
    found, _ = await ask(scoped, query, engine={"traversal": traversal})
    assert set(facts(found)) == {("Ada", "knows", "Bob"), ("Bob", "knows", "Dan")}
    projects, _ = await ask(scoped, {"anchors": ["Ada"], "entity_types": ["project"]}, engine={"traversal": traversal})
    assert ("Bob", "leads", "Apollo") in facts(projects)


async def test_names_that_the_graph_does_not_know_find_nothing(scoped):
    await written(scoped)
    found, _ = await ask(scoped, {"anchors": ["Zoe", 'a "quoted" name']})
    assert (found.triplets, found.anchors) == ((), ())
    assert found.reason == "nothing visible is known by the names that the question was understood to ask for"
    some, _ = await ask(scoped, {"anchors": ["Zoe", "Ada"]})
    assert len(some.triplets) == 2


async def test_a_faulty_query_is_repaired_once(scoped):
    await written(scoped)
    faulty = {"anchors": ["Ada"], "relation_types": ["adores"], "since": "lately"}
    found, asked = await ask(scoped, [faulty, {"anchors": ["Ada"]}])
    assert found.graph_query == GraphQuery(anchors=["Ada"])
    assert "the schema has no 'adores'" in asked[1]
    assert "since must be a year" in asked[1]
    with pytest.raises(LLMAnswerError, match="'hates'") as raised:
        await ask(scoped, [faulty, {"anchors": ["Ada"], "relation_types": ["hates"]}])
    assert raised.value.faults


async def test_nothing_is_asked_where_nothing_could_be_found(scoped):
    await scoped.write(people(names="Ada"))
    for question, reason in (("what of Ada?", "nothing visible could be asked for"), (" ", "nothing was asked")):
        found, asked = await ask(scoped, {"anchors": ["Ada"]}, question)
        assert (asked, found.triplets, found.graph_query, found.reason) == ([], (), None, reason)


async def test_a_gate_has_to_be_passed_or_waived_aloud(scoped):
    await written(scoped)
    with pytest.raises(MissingDependencyError, match=r"'natural_language'.*needs a gate.*Gate\(.*ALLOW_ALL"):
        await ask(scoped, {"anchors": ["Ada"]}, gate=None)


async def test_a_model_that_is_down_is_an_error_and_no_empty_result(scoped):
    class Down:
        async def ask(self, text):
            raise LLMUnavailableError

    await written(scoped)
    engine = GraphSearchEngine(store=scoped, llm=Down())
    with pytest.raises(LLMUnavailableError):
        await engine.search("what of Ada?", mode=SearchMode.NATURAL_LANGUAGE, gate=ALLOW_ALL)


async def test_a_question_longer_than_the_prompt_is_refused_before_anything_is_asked(scoped):
    await written(scoped)
    modes = {"natural_language": NaturalLanguage(prompt_tokens=3_000)}
    with pytest.raises(InvalidInputError, match="ask in fewer words"):
        await ask(scoped, {"anchors": ["Ada"]}, "why? " * 1_000, engine={"modes": modes})
    with pytest.raises(InvalidInputError) as raised:
        NaturalLanguage(prompt_tokens=0, counted=0)
    assert len(raised.value.faults) == 2


@pytest.mark.parametrize("started", [1, 3, 100])
async def test_what_is_hidden_does_not_crowd_out_where_a_query_starts(scoped, started, monkeypatch):
    monkeypatch.setattr(natural_language, "STARTED", started)
    names = [f"p{number}" for number in range(8)]
    seen = [edge(one, "knows", other) for one, other in pairwise(names[:5])]
    hidden = [edge(one, "knows", other, labels=(SECRET,)) for one, other in pairwise(names)]
    details = {name: {"labels": (SECRET,)} for name in names[5:]}
    for query in ({"entity_types": ["person"]}, {"relation_types": ["knows"]}):
        await scoped.write(people(*seen, *hidden[4:], names=" ".join(names), **details))
        found, _ = await ask(scoped, query, gate=no_secrets(by_signature=True))
        assert min(started, 4) <= found.found <= 4


async def test_a_type_that_the_schema_has_only_in_another_time_starts_nowhere(scoped):
    await written(scoped)
    found, _ = await ask(scoped, {"relation_types": ["hired"]})
    assert (found.found, found.reason) == (0, "nothing visible is known of what the question was understood to ask for")


async def test_of_several_anchors_relations_between_them_answer_too(scoped):
    await written(scoped)
    found, _ = await ask(scoped, {"anchors": ["Ada", "Bob"], "entity_types": ["person"], "relation_types": ["knows"]})
    assert set(facts(found)) == {("Ada", "knows", "Bob"), ("Cyd", "knows", "Ada"), ("Bob", "knows", "Dan")}
