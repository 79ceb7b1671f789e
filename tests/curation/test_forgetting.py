"""Forgetting memories, sessions and sources, each completely or not at all."""

from datetime import timedelta
from typing import Any

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator
from graphsearch.errors import AccessDeniedError, InvalidInputError, UnknownScopeError
from graphsearch.model import Batch, Memory, MemoryLink, WriteReport
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.samples import claim, day, mention, person, portrait, without_history
from tests.curation.team import ADA, BATCH, BOB, FRIENDS, GREG, HOME, MOVED, SECRET, Labels, engine_over


@pytest.fixture
async def engine(scoped):
    return await engine_over(scoped)


async def test_a_memory_goes_with_all_that_rests_on_it_alone(engine, scoped):
    curator = Curator(engine)
    report = await curator.forget("friends")
    assert (report.memories, report.mentions_removed, report.claims_removed) == (1, 2, 1)
    assert (await curator.recall_entity(ADA.id)).entity.aliases == ("Ada",)
    assert await curator.search_entities("countess") == ()
    [knows] = [each for each in await scoped.list_relations(entity_id=BOB.id) if each.type == "knows"]
    assert (knows.confidence, knows.fact) == (0.6, "")
    assert await curator.forget("friends") == WriteReport()
    assert await curator.forget("never") == await curator.forget("a\0b") == WriteReport()


async def test_a_session_leaves_the_graph_as_it_was_before_it(engine, scoped):
    before = without_history(await portrait(scoped))
    zoe = person("Zoe")
    memories = [Memory(id=f"z{number}", session_id="s9", occurred_at=day(number)) for number in range(5)]
    claims = [claim(memory, zoe, ADA, "works_with") for memory in memories]
    mentions = [mention(memory, end) for memory in memories for end in (zoe, ADA)]
    await scoped.write(Batch(named=[zoe], memories=memories, mentions=mentions, claims=claims))
    curator = Curator(engine)
    report = await curator.forget(session_id="s9")
    assert (report.memories, report.entities_removed, report.claims_removed, report.mentions_removed) == (5, 1, 5, 10)
    assert without_history(await portrait(scoped)) == before
    assert await curator.forget(session_id="s9") == await curator.forget(source="never") == WriteReport()


async def test_a_source_goes_page_by_page_and_is_added_up(engine, scoped, monkeypatch):
    for read_or_written in ("_support.paging", "curation.curator"):
        monkeypatch.setattr(f"graphsearch.{read_or_written}.PAGE", 2)
    calls = []
    forget = type(scoped).forget

    async def counted(self, ids, **options):
        calls.append(len(ids))
        return await forget(self, ids, **options)

    monkeypatch.setattr(type(scoped), "forget", counted)
    report = await Curator(engine).forget(source="chat")
    assert calls == [2, 1]
    assert (report.memories, report.claims_removed) == (3, 3)
    assert [memory.id for memory in await scoped.list_memories()] == ["again", "hired"]


@pytest.mark.parametrize("which", [{"memory": "z0"}, {"source": "chat"}, {"label": "z"}, {"memory": "never"}])
async def test_a_dry_run_reports_what_would_go_and_removes_nothing(engine, scoped, which):
    zoe = person("Zoe")
    memories = [Memory(id=f"z{number}", source="chat", labels=["z"] * number) for number in range(3)]
    claims = [claim(memory, zoe, ADA, "works_with") for memory in memories]
    mentions = [mention(memory, zoe) for memory in memories]
    await scoped.write(Batch(named=[zoe], memories=memories, mentions=mentions, claims=claims))
    await scoped.link_memories([MemoryLink(from_id="z1", to_id="home")])
    before = await portrait(scoped)
    curator = Curator(engine)
    planned = await curator.forget(**which, dry_run=True)
    assert await portrait(scoped) == before
    assert planned == await curator.forget(**which)
    assert (planned.memories > 0) == ("never" not in which.values())


async def test_a_dry_run_counts_what_goes_on_several_pages(engine, scoped, monkeypatch):
    monkeypatch.setattr("graphsearch.curation.curator.PAGE", 1)
    planned = await Curator(engine).forget(source="chat", dry_run=True)
    done = await Curator(engine).forget(source="chat")
    assert (planned.memories, planned.claims_removed) == (done.memories, done.claims_removed) == (3, 3)


@pytest.mark.parametrize("wrong", ["", " ", "a\0b"])
async def test_nothing_is_forgotten_by_mistake(engine, scoped, wrong):
    await scoped.write(Batch(memories=[Memory(id="of nothing")]))
    curator = Curator(engine)
    for given in ({"session_id": wrong}, {"source": wrong}, {}, {"memory": "of nothing", "source": "chat"}):
        with pytest.raises(InvalidInputError):
            await curator.forget(**given)
    assert (await scoped.statistics()).memories == 6


async def test_one_memory_that_may_not_be_forgotten_keeps_them_all(scoped, monkeypatch):
    for read_or_written in ("_support.paging", "curation.curator"):
        monkeypatch.setattr(f"graphsearch.{read_or_written}.PAGE", 2)
    memories = [attrs.evolve(each, labels=(SECRET,)) if each == MOVED else each for each in BATCH.memories]
    engine = await engine_over(scoped, attrs.evolve(BATCH, memories=memories))
    authorizer = Labels(action="forget")
    curator = Curator(engine, gate=Gate(authorizer, GREG))
    before = await portrait(scoped)
    for forgetting in (
        curator.forget(source="chat"),
        curator.forget(source="chat", dry_run=True),
        curator.forget(session_id="s2"),
        curator.forget("moved"),
    ):
        with pytest.raises(AccessDeniedError, match="forget is denied"):
            await forgetting
    assert await portrait(scoped) == before
    authorizer.asked.clear()
    assert (await curator.forget("home")).memories == 1
    assert authorizer.asked_for("forget") == {HOME.id}
    assert (await curator.forget(FRIENDS.id)).memories == 1


@pytest.mark.parametrize("which", [{"owner": "zoe"}, {"subject": "Zoe Zimmer"}, {"label": "zoe's"}])
async def test_all_that_is_somebodys_goes_and_nothing_else(engine, scoped, which):
    before = without_history(await portrait(scoped))
    zoe = person("Zoe")
    theirs: dict[str, Any] = {"attributes": {"owner": "zoe"}, "subject": "Zoe Zimmer", "labels": ["zoe's", "note"]}
    memories = [Memory(id=f"z{number}", **theirs) for number in range(3)]
    await scoped.write(Batch(named=[zoe], memories=memories, mentions=[mention(each, zoe) for each in memories]))
    report = await Curator(engine).forget(**which)
    assert (report.memories, report.entities_removed, report.mentions_removed) == (3, 1, 3)
    assert without_history(await portrait(scoped)) == before


async def test_memories_expire_by_label_and_source_and_age(engine, scoped, clock):
    notes = [
        Memory(id="old", labels=["note"], source="chat", occurred_at=clock.now() - timedelta(days=31)),
        Memory(id="new", labels=["note"], source="chat", occurred_at=clock.now() - timedelta(days=29)),
        Memory(id="mail", labels=["note"], source="mail", occurred_at=clock.now() - timedelta(days=31)),
        Memory(id="undated", labels=["note"], source="chat"),
        Memory(id="other", labels=["minutes"], source="chat", occurred_at=clock.now() - timedelta(days=31)),
    ]
    await scoped.write(Batch(memories=notes))
    curator, month = Curator(engine), timedelta(days=30)

    async def left():
        return {each.id for each in await scoped.get_memories([note.id for note in notes])}

    assert (await curator.expire(month, label="note", source="chat")).memories == 1
    assert await left() == {"new", "mail", "undated", "other"}
    assert (await curator.expire(month, label="note")).memories == 1
    assert await left() == {"new", "undated", "other"}
    clock.advance(days=31)  # what has no date ages from when it was written
    assert (await curator.expire(month, source="chat")).memories >= 3
    assert await left() == set()
    assert await curator.expire(timedelta.max, source="chat") == WriteReport()


@pytest.mark.parametrize(
    ("age", "which"),
    [
        (timedelta(), {"label": "note"}),
        (timedelta(-1), {"label": "note"}),
        (timedelta(1), {}),
        (timedelta(1), {"label": ""}),
    ],
)
async def test_an_expiry_of_everything_or_of_nothing_is_refused(engine, age, which):
    with pytest.raises(InvalidInputError, match="expiry"):
        await Curator(engine).expire(age, **which)


async def test_nothing_expires_unless_all_of_it_may_be_forgotten(scoped, clock):
    kept = [
        Memory(id="a", source="s", occurred_at=day(1)),
        Memory(id="b", source="s", occurred_at=day(1), labels=[SECRET]),
    ]
    engine = await engine_over(scoped, Batch(memories=kept))
    curator = Curator(engine, gate=Gate(Labels(action="forget"), GREG))
    with pytest.raises(AccessDeniedError):
        await curator.expire(timedelta(days=1), source="s")
    assert len(await scoped.list_memories()) == 2


async def test_a_scope_never_written_to_is_an_error():
    engine = await engine_over(InMemoryGraphStore().with_scope(org_id="acme", project_id="web"), Batch())
    empty = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    engine.store = empty
    for forgetting in (Curator(engine).forget("m"), Curator(engine).forget(session_id="s")):
        with pytest.raises(UnknownScopeError):
            await forgetting
