"""The timeline of an entity."""

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator, EventKind
from graphsearch.errors import InvalidInputError, UnknownElementError
from graphsearch.model import Batch, Memory, Relation
from graphsearch.testing.samples import day, mention
from tests.curation.team import ADA, BATCH, BOB, FRIENDS, GREG, HOME, SECRET, Labels, engine_over


def rows(events):
    return [
        (round((event.at - day(0)).days), event.kind.value, event.entity.name if event.entity else event.memory.id)
        for event in events
    ]


async def test_periods_and_mentions_in_order(scoped):
    curator = Curator(await engine_over(scoped))
    events = await curator.entity_timeline("Ada Lovelace")
    assert rows(events) == [
        (10, "started", "Acme"),
        (10, "mentioned", "hired"),
        (50, "ended", "Acme"),
        (50, "started", "Globex"),
        (50, "mentioned", "moved"),
        (60, "started", "Paris"),
        (60, "mentioned", "home"),
        (70, "started", "Bob Noyce"),
        (70, "mentioned", "again"),
        (90, "mentioned", "friends"),
    ]
    assert events[2].relation == events[0].relation
    assert [event.relation and event.relation.type for event in events[:3]] == ["works_at", None, "works_at"]
    assert rows(await curator.entity_timeline(ADA.id, since=day(50), until=day(70))) == rows(events)[2:7]
    assert rows(await curator.entity_timeline("Acme")) == [
        (10, "started", "Ada Lovelace"),
        (10, "started", "Bob Noyce"),
        (10, "mentioned", "hired"),
        (50, "ended", "Ada Lovelace"),
    ]


async def test_what_has_no_date_is_no_event(scoped):
    knows = Relation(source_id=ADA.id, type="knows", target_id=BOB.id)
    undated = Memory(id="m")
    batch = Batch(entities=[ADA, BOB], relations=[knows], memories=[undated], mentions=[mention(undated, ADA)])
    assert await Curator(await engine_over(scoped, batch)).entity_timeline(ADA.id) == ()


async def test_a_self_loop_is_listed_once(scoped):
    loop = Relation(source_id=ADA.id, type="likes", target_id=ADA.id, valid_from=day(1), valid_to=day(2))
    events = await Curator(await engine_over(scoped, Batch(entities=[ADA], relations=[loop]))).entity_timeline(ADA.id)
    assert [event.kind for event in events] == [EventKind.STARTED, EventKind.ENDED]


async def test_many_relations_are_read_page_by_page(scoped, monkeypatch):
    monkeypatch.setattr("graphsearch.curation.permissions.PAGE", 2)
    periods = [
        Relation(source_id=ADA.id, type="visits", target_id=BOB.id, valid_from=day(number), valid_to=day(number + 1))
        for number in range(0, 14, 2)
    ]
    engine = await engine_over(scoped, Batch(entities=[ADA, BOB], relations=periods))
    assert len(await Curator(engine).entity_timeline(ADA.id)) == 14


async def test_bad_input(scoped):
    curator = Curator(await engine_over(scoped))
    for since, until in ((day(2), day(1)), (day(1).replace(tzinfo=None), None)):
        with pytest.raises(InvalidInputError, match="since"):
            await curator.entity_timeline(ADA.id, since=since, until=until)
    with pytest.raises(UnknownElementError):
        await curator.entity_timeline("Nobody")


async def test_what_is_hidden_did_not_happen(scoped):
    secret = {FRIENDS.id, HOME.id}
    memories = [attrs.evolve(each, labels=(SECRET,)) if each.id in secret else each for each in BATCH.memories]
    entities = [attrs.evolve(each, labels=(SECRET,)) if each == BOB else each for each in BATCH.entities]
    engine = await engine_over(scoped, attrs.evolve(BATCH, memories=memories, entities=entities))
    events = await Curator(engine, gate=Gate(Labels(), GREG)).entity_timeline(ADA.id)
    assert {name for _, _, name in rows(events)} == {"Acme", "Globex", "hired", "moved", "again"}
