"""A question at two moments: what happened to each relation of its answer, and when its answer changes."""

from typing import Any

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.page import changes as module
from graphsearch.page.changes import Happened, changes
from graphsearch.testing.samples import day
from tests.curation.team import BATCH, FRIENDS, GREG, MEMORIES, MOVED, SECRET, Labels, engine_over

QUESTION: dict[str, Any] = {"query": "where does Ada Lovelace work?", "mode": "neighborhood"}
ACME, GLOBEX = ("Ada Lovelace", "works_at", "Acme"), ("Ada Lovelace", "works_at", "Globex")
PARIS, BOB = ("Ada Lovelace", "lives_in", "Paris"), ("Ada Lovelace", "knows", "Bob Noyce")
BOBS = ("Bob Noyce", "works_at", "Acme")


@pytest.fixture
async def engine(scoped, clock):
    clock.set(day(100))
    return await engine_over(scoped)


def happened(found):
    rows = [(each.happened, each.relation) for each in found.relations]
    return {(row.source.name, row.type, row.target.name): what.value for what, row in rows}


async def test_what_began_and_what_ended_in_between(engine):
    found = await changes(engine, **QUESTION, since=day(30), until=day(65))
    assert happened(found) == {PARIS: "appeared", GLOBEX: "appeared", ACME: "ended", BOBS: "fell"}
    order = [each.happened for each in found.relations]
    assert order == sorted(order, key=[*Happened].index)
    assert (found.since, found.until, found.known_at) == (day(30), day(65), day(100))
    shown = [(await engine.search(**QUESTION, as_of=each)).triplets for each in (day(30), day(65))]
    for triplets, places in zip(shown, ("before", "after"), strict=True):
        expected = {f"relation:{each.relation.id}": place for place, each in enumerate(triplets, 1)}
        placed = {each.relation.key: getattr(each, places) for each in found.relations}
        assert {key: each.place for key, each in placed.items() if each} == expected


async def test_either_moment_may_be_the_later_one(engine):
    back = await changes(engine, **QUESTION, since=day(65), until=day(30))
    assert happened(back) == {PARIS: "ended", GLOBEX: "ended", ACME: "appeared", BOBS: "rose"}
    same = await changes(engine, **QUESTION, since=day(80), until=day(80))
    assert {*happened(same).values()} == {"stayed"}
    assert all(each.before == each.after for each in same.relations)


async def test_what_holds_at_both_moments_rises_into_the_results_and_falls_out_of_them(engine):
    found = await changes(engine, query="Ada Lovelace", mode="neighborhood", since=day(80), until=day(95), limit=2)
    assert happened(found) == {BOB: "rose", GLOBEX: "fell", PARIS: "stayed"}


async def test_the_moments_at_which_the_answer_changes(engine, monkeypatch):
    found = await changes(engine, **QUESTION, until=day(99))
    turns = {each.at: (each.started, each.ended) for each in found.moments if each.started or each.ended}
    assert turns == {day(10): (1, 0), day(50): (1, 1), day(60): (1, 0), day(70): (1, 0)}
    assert [(each.at, each.known) for each in found.moments if each.known] == [(day(100), 4)]
    assert found.since == day(60)  # so that the last change is in between
    assert happened(found)[BOB] == "appeared"
    first = await changes(engine, **QUESTION, until=day(20))  # nothing else changed before
    assert first.since < day(10)
    assert {*happened(first).values()} == {"appeared"}
    monkeypatch.setattr(module, "_MOMENTS", 3)
    early = await changes(engine, **QUESTION, since=day(12), until=day(12))
    assert [each.at for each in early.moments] == [day(10), day(50), day(100)]  # those of what is shown, not the latest


async def test_what_was_written_down_later_is_counted_and_shapes_nothing(scoped, clock):
    for number, memory in enumerate(MEMORIES):
        clock.set(day(100 + number))
        own: dict[str, Any] = {
            name: [each for each in getattr(BATCH, name) if each.memory_id == memory.id]
            for name in ("mentions", "claims")
        }
        await scoped.write(attrs.evolve(BATCH, memories=[memory], **own))
    engine = await engine_over(scoped, attrs.evolve(BATCH, memories=(), mentions=(), claims=()))
    clock.set(day(200))
    then = await changes(engine, **QUESTION, since=day(30), until=day(80), known_at=day(101))
    assert happened(then) == {GLOBEX: "appeared", ACME: "ended", BOBS: "fell"}
    assert then.unknown == 2  # where she lives, and whom she knows
    now = await changes(engine, **QUESTION, since=day(30), until=day(80))
    assert {PARIS, BOB} <= happened(now).keys()
    assert [each.at for each in now.moments if each.known] == [day(100), day(101), day(102), day(103)]


async def test_hidden_relations_neither_appear_nor_make_moments(scoped, clock):
    clock.set(day(100))
    secret = {MOVED.id, FRIENDS.id}
    memories = [attrs.evolve(each, labels=(SECRET,) * (each.id in secret)) for each in BATCH.memories]
    engine = await engine_over(scoped, attrs.evolve(BATCH, memories=memories))
    found = await changes(engine, **QUESTION, since=day(30), until=day(80), gate=Gate(Labels(), GREG))
    assert happened(found) == {ACME: "stayed", BOBS: "stayed", PARIS: "appeared", BOB: "appeared"}
    assert day(50) not in [each.at for each in found.moments]
