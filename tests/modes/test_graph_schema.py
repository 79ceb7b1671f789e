"""Which types a graph shows to whom, on every store."""

from datetime import UTC, datetime
from typing import Any

import pytest

from graphsearch.access.reader import reading
from graphsearch.model import Batch, Claim, Entity, Memory, Relation
from graphsearch.modes import natural_language as graph_schema
from graphsearch.modes.natural_language import COUNTED, visible_schema
from tests.gates import POLICIES, no_secrets
from tests.graphs import days_ago, edge, people, person
from tests.test_hidden import SECRET


async def schema_of(store, gate=None, counted=COUNTED, **options):
    async with reading(store, gate=gate, **options) as reader:
        return await visible_schema(reader, counted)


async def test_types_are_counted_the_most_frequent_first(scoped):
    tool = Entity(type="tool", name="Tool")
    uses = Relation(source_id=person("Ada"), type="uses", target_id=tool.id)
    batch = people(edge("Ada", "knows", "Bob"), edge("Bob", "knows", "Cyd"), names="Ada Bob Cyd Lone")
    await scoped.write(batch)
    await scoped.write(Batch(entities=[tool], relations=[uses]))
    found = await schema_of(scoped)
    assert list(found.relation_types.items()) == [("knows", 2), ("uses", 1)]
    assert list(found.entity_types.items()) == [("person", 3), ("tool", 1)]  # who has no relation is in no triplet
    assert found.whole


async def test_only_what_is_in_view_is_counted(scoped):
    await scoped.write(
        people(
            edge("Ada", "knew", "Bob", valid_to=days_ago(9)),
            edge("Ada", "met_with", "Bob"),
            edge("Ada", "doubts", "Bob", confidence=0.2),
            names="Ada Bob",
        )
    )
    assert (await schema_of(scoped)).relation_types == {}
    long_ago = datetime.min.replace(tzinfo=UTC)
    assert (await schema_of(scoped, since=long_ago)).relation_types == {"knew": 1}


@POLICIES
async def test_types_that_only_hidden_elements_have_are_not_listed(scoped, by_signature):
    hidden: dict[str, Any] = {"labels": (SECRET,)}
    spy = Entity(type="spy", name="Spy", **hidden)
    given = [
        edge("Ada", "knows", "Bob"),
        edge("Ada", "knows", "Eve"),
        edge("Ada", "betrays", "Bob", **hidden),
        edge("Ada", "pays", "Eve"),
        Relation(source_id=spy.id, type="watches", target_id=person("Ada")),
    ]
    secret, visible_memory = Memory(id="secret", **hidden), Memory(id="visible")
    proved: dict[str, Any] = {"source_id": person("Ada"), "target_id": person("Bob"), "confidence": 0.8}
    claims = [
        Claim(memory_id="secret", type="bribes", **proved),
        Claim(memory_id="secret", type="likes", **proved),
        Claim(memory_id="visible", type="likes", **proved),
    ]
    names = people(*given[:4], names="Ada Bob Eve", Eve=hidden)
    await scoped.write(names)
    await scoped.write(Batch(entities=[spy], relations=given[4:], memories=[secret, visible_memory], claims=claims))
    everything = await schema_of(scoped)
    assert set(everything.relation_types) == {"knows", "betrays", "pays", "watches", "bribes", "likes"}
    seen = await schema_of(scoped, no_secrets(by_signature=by_signature))
    assert seen.relation_types == {"knows": 1, "likes": 1}
    assert seen.entity_types == {"person": 2}


@pytest.mark.parametrize("page", [1, 2, 3, 100])
async def test_a_large_graph_is_sampled(scoped, page, monkeypatch):
    monkeypatch.setattr(graph_schema, "PAGE", page)
    names = [f"p{number}" for number in range(30)]
    await scoped.write(people(*(edge("Ada", "knows", name) for name in names), names=" ".join(["Ada", *names])))
    for counted in (1, 4, 29, 30, 31):
        found = await schema_of(scoped, counted=counted)
        assert found.relation_types == {"knows": min(counted, 30)}
        assert found.entity_types == {"person": min(counted, 30) + 1}
        assert found.whole is (counted > 30)


async def test_a_sample_is_the_same_whatever_is_hidden(scoped, monkeypatch):
    monkeypatch.setattr(graph_schema, "PAGE", 5)
    names = [f"p{number}" for number in range(20)]
    seen = [edge("Ada", kind, name) for name in names for kind in ("knows", "likes")]
    await scoped.write(people(*seen, names=" ".join(["Ada", *names])))
    before = await schema_of(scoped, counted=8)
    hidden = [edge("Ada", kind, name, labels=(SECRET,)) for name in names for kind in ("hates", "pays")]
    await scoped.write(Batch(relations=hidden))
    assert await schema_of(scoped, no_secrets(by_signature=True), counted=8) == before
    assert sum(before.relation_types.values()) == 8
    assert not before.whole


@pytest.mark.parametrize(("counted", "hidden", "whole"), [(8, 12, False), (9, 12, True), (9, 100, True)])
async def test_whether_all_were_counted_is_returned_whatever_is_hidden(scoped, monkeypatch, counted, hidden, whole):
    monkeypatch.setattr(graph_schema, "PAGE", 5)
    names = [f"p{number}" for number in range(hidden)]
    await scoped.write(people(*(edge("Ada", "knows", name) for name in names[:8]), names=" ".join(["Ada", *names])))
    assert (await schema_of(scoped, counted=counted)).whole is whole
    await scoped.write(Batch(relations=[edge("Ada", "hates", name, labels=(SECRET,)) for name in names]))
    assert (await schema_of(scoped, no_secrets(by_signature=True), counted=counted)).whole is whole


async def test_an_empty_graph_has_no_types(scoped):
    await scoped.write(people(names="Ada"))
    found = await schema_of(scoped)
    assert (found.entity_types, found.relation_types, found.whole) == ({}, {}, True)
