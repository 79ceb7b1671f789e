"""Where triplets that may answer come from, read through a reader on every store."""

import numpy as np
import pytest

from graphsearch.access.reader import reading
from graphsearch.columns import Hits, Subgraph
from graphsearch.model import Batch, Entity
from graphsearch.ranking.retrieval import Facts, by_facts, of_types, with_relations
from graphsearch.testing.fakes import NOON
from graphsearch.traversal.paths import KHopTraversal
from tests.gates import no_secrets
from tests.graphs import days_ago, edge, people, person
from tests.question.harbour import ENTITIES, HASHED, harbour_engine, related


def hits(keys, values):
    size = len(keys)
    return Hits(
        keys=np.array(keys), signatures=np.zeros(size, np.int64), values=np.array(values), importance=np.full(size, 0.5)
    )


def test_each_fact_stands_once_with_its_cosine_and_its_bm25():
    found = Facts.of(hits([5, 2], [0.25, 1.0]), hits([2, 9], [3.5, 1.5]))
    assert found.keys.tolist() == [2, 5, 9]
    assert found.meaning.tolist() == [0.0, 0.75, 0.0]
    assert found.words.tolist() == [3.5, 0.0, 1.5]
    none = Facts.none(np.array([7]))
    assert (none.keys.tolist(), none.keys.dtype, none.meaning.tolist(), none.words.tolist()) == (
        [],
        np.array([7]).dtype,
        [],
        [],
    )


async def facts_of(store, found, reader):
    return [each.fact for each in await reader.relations(found.keys)]


async def test_facts_are_found_in_words_and_where_there_is_a_vector_in_meaning(scoped):
    engine = await harbour_engine(scoped)
    async with reading(engine.store) as reader:
        words = await by_facts("polishes lenses", None, 5, reader)
        assert sorted(await facts_of(scoped, words, reader)) == [
            "Moss Teague polishes the lenses of Cobb Light",
            "Wen Carlyon polishes the lenses of Skerry Beacon",
        ]
        assert (words.words > 0).all()
        assert not words.meaning.any()
        both = await by_facts("polishes lenses", HASHED.vector("polishes lenses"), 3, reader)
        assert len(both.keys) == 3
        assert set(await facts_of(scoped, words, reader)) <= set(await facts_of(scoped, both, reader))
        row = both.keys.tolist().index(words.keys[0])
        assert both.meaning[row] > 0.3
        assert both.words[row] == pytest.approx(words.words[0])


async def walked(reader, *names, depth=1):
    seeds = await reader.locate([ENTITIES[name].id for name in names])
    return await KHopTraversal().traverse(seeds, depth=depth, reader=reader)


async def test_relations_that_nobody_walked_join_with_their_ends_0_hops_away(scoped):
    await harbour_engine(scoped)
    async with reading(scoped) as reader:
        subgraph = await walked(reader, "North Light")
        facts = await by_facts("Jory Pascoe leads the Petrels", None, 1, reader)
        joined = await with_relations(subgraph, facts.keys, reader)
        assert len(joined.relations) == len(subgraph.relations) + 1
        assert joined.entities[-len(subgraph.entities) :].tolist() == subgraph.entities.tolist()
        ends = await reader.entities(joined.entities[[joined.source[-1], joined.target[-1]]])
        assert [each.name for each in ends] == ["Jory Pascoe", "Petrels"]
        assert joined.hops[[joined.source[-1], joined.target[-1]]].tolist() == [0, 0]
        moved = len(joined.entities) - len(subgraph.entities)
        assert moved == 2
        for place, entity in enumerate(subgraph.entities):
            assert joined.hops[place + moved] == subgraph.hops[place]
            assert joined.path_to(place + moved) == subgraph.path_to(place), entity
        for row in range(len(subgraph.relations)):
            assert joined.entities[joined.source[row]] == subgraph.entities[subgraph.source[row]]
            assert joined.entities[joined.target[row]] == subgraph.entities[subgraph.target[row]]
        assert joined.confidence[-1] == joined.freshness[-1] == joined.prior[-1] == 1.0


async def test_what_was_walked_already_joins_nothing(scoped):
    await harbour_engine(scoped)
    async with reading(scoped) as reader:
        subgraph = await walked(reader, "North Light")
        assert await with_relations(subgraph, subgraph.relations, reader) is subgraph
        assert await with_relations(subgraph, subgraph.relations[:0], reader) is subgraph


async def test_what_may_not_be_seen_or_does_not_hold_joins_nothing(scoped):
    ghost = Entity(type="person", name="Ghost", labels=["secret"])
    everybody = [*ENTITIES.values(), ghost]
    hidden = related("Moss Teague", "paints", "Cobb Light", "Moss Teague paints", labels=["secret"])
    await harbour_engine(
        scoped, entities=everybody, relations=[hidden, related("Moss Teague", "leads", "Terns", "leads")]
    )
    async with reading(scoped) as reader:
        keys = (await by_facts("paints leads", None, 9, reader)).keys
        assert len(keys) == 2
    async with reading(scoped, gate=no_secrets(by_signature=False)) as reader:
        nobody = Subgraph.none(keys)
        joined = await with_relations(nobody, keys, reader)
        (only,) = await reader.relations(joined.relations)
        assert only.type == "leads"


def names_of(count):
    return [f"N{number:02}" for number in range(count)]


async def hub(store, count, **details):
    """An entity with so many relations of one type, and one weaker relation of another."""
    names = names_of(count)
    rows = [edge("Hub", "knows", name, confidence=0.9) for name in names]
    await store.write(
        people(*rows, edge("Hub", "owes", "Last", confidence=0.6, **details), names=" ".join(["Hub", "Last", *names]))
    )


async def types_met(reader, anchors, types):
    seeds = await reader.locate([person("Hub")])
    subgraph = await KHopTraversal().traverse(seeds, depth=1, reader=reader)
    typed = await of_types(subgraph, anchors(seeds), types, reader)
    found = await with_relations(subgraph, typed, reader)
    return sorted({each.type for each in await reader.relations(found.relations)}), len(found.relations)


async def test_relations_of_asked_types_are_found_behind_the_25_strongest_of_a_hub(scoped):
    await hub(scoped, 30)
    async with reading(scoped) as reader:
        assert await types_met(reader, lambda seeds: seeds.keys, []) == (["knows"], 25)
        assert await types_met(reader, lambda seeds: seeds.keys, ["owes"]) == (["knows", "owes"], 26)
        assert await types_met(reader, lambda seeds: seeds.keys, ["knows"]) == (["knows"], 30)
        assert await types_met(reader, lambda seeds: seeds.keys[:0], ["owes"]) == (["knows"], 25)
        elsewhere = (await reader.locate([person("N29")])).keys
        assert await types_met(reader, lambda _: elsewhere, ["owes"]) == (["knows"], 25)


async def test_an_entity_with_fewer_relations_is_no_hub(scoped):
    await hub(scoped, 12)
    async with reading(scoped) as reader:
        assert await types_met(reader, lambda seeds: seeds.keys, ["owes"]) == (["knows", "owes"], 13)


async def test_of_a_hub_only_what_holds_is_looked_at(scoped):
    await hub(scoped, 30, valid_to=days_ago(9))
    async with reading(scoped) as reader:
        assert await types_met(reader, lambda seeds: seeds.keys, ["owes"]) == (["knows"], 25)
    async with reading(scoped, as_of=days_ago(20), known_at=NOON) as reader:
        assert await types_met(reader, lambda seeds: seeds.keys, ["owes"]) == (["knows", "owes"], 26)


async def test_facts_of_an_empty_scope(scoped):
    await scoped.write(Batch())
    async with reading(scoped) as reader:
        found = await by_facts("anything", None, 5, reader)
        assert len(found.keys) == 0
