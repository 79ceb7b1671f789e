"""An ingest behind a gate asks for what it would change, before it changes it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from uuid import UUID

import attrs
import pytest

from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import AccessDeniedError, UnknownScopeError
from graphsearch.ingest import Ingestor
from graphsearch.ingest.reading.extractor import TextExtractor
from graphsearch.ingest.write.permission import Permission
from graphsearch.model import Action, Batch, Claim, Memory, Principal, Relation
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import NOON

MEETS = Memory(id="m1", text="Ada Lovelace works with Charles Babbage.", occurred_at=NOON)
REPORTS = Memory(id="m2", text="Mary Somerville reports to John Herschel.", occurred_at=NOON)
FIRST = "def first():\n    return second()\n\n\ndef second():\n    pass\n"


@attrs.define
class Refusing:
    """An authorizer that refuses some actions on what has one of some labels, types or names; it keeps what it saw."""

    refused: frozenset[str] = frozenset()
    actions: frozenset[Action] = frozenset(Action)
    asked: list[tuple[str, str, str]] = attrs.field(factory=list)
    by_signature: bool = False

    async def authorize(self, principal, action, resources, *, scope):
        self.asked += [(action.value, each.kind.value, each.name or each.type or each.id) for each in resources]
        return [
            action not in self.actions or not self.refused & {each.type, each.name, each.id, *each.labels}
            for each in resources
        ]


def refusing(*names, actions: Iterable[Action] = Action):
    return Refusing(frozenset(names), frozenset(actions))


def ingestor(store, authorizer, **options):
    return Ingestor(GraphSearchEngine(store=store), gate=Gate(authorizer, Principal(id="bot")), **options)


async def held(store):
    """Everything that a store has, by what it is called."""
    try:
        entities, relations = await store.list_entities(), await store.list_relations()
        memories = await store.list_memories()
    except UnknownScopeError:
        return set(), set(), {}
    names = {each.name for each in entities}
    return names, {each.type for each in relations}, {each.id: each.text for each in memories}


async def test_what_is_allowed_is_written_as_without_a_gate(scoped):
    other = InMemoryGraphStore().with_scope(org_id="acme", project_id="ungated")
    await Ingestor(GraphSearchEngine(store=other)).remember([MEETS, REPORTS])
    authorizer = refusing()
    report = await ingestor(scoped, authorizer).remember([MEETS, REPORTS])
    assert (report.changed, report.entities) == (2, 4)
    assert await held(scoped) == await held(other)
    assert {action for action, _, _ in authorizer.asked} == {"write"}
    kinds = [kind for _, kind, _ in authorizer.asked]
    assert (kinds.count("memory"), kinds.count("entity"), kinds.count("relation")) == (2, 4, 2)


async def test_without_a_gate_and_with_that_of_the_owner_nobody_is_asked(scoped, monkeypatch):
    async def never(*_):
        raise AssertionError

    monkeypatch.setattr("graphsearch.access.gate.BoundGate.permits", never)
    await Ingestor(GraphSearchEngine(store=scoped)).remember([MEETS])
    await Ingestor(GraphSearchEngine(store=scoped), gate=ALLOW_ALL).remember([REPORTS])
    assert len((await held(scoped))[2]) == 2


@pytest.mark.parametrize("refused", ["m1", "secret", "Ada Lovelace", "works_with"])
async def test_what_is_refused_is_not_written_and_nothing_with_it(scoped, refused):
    """A memory by its id or a label, an entity, and a relation that it asserts."""
    authorizer = refusing(refused, actions=[Action.WRITE])
    with pytest.raises(AccessDeniedError, match="write is denied") as denied:
        await ingestor(scoped, authorizer).remember([attrs.evolve(MEETS, labels=["secret"]), REPORTS])
    assert denied.value.action == "write"
    assert await held(scoped) == (set(), set(), {})


async def test_a_refused_memory_is_not_read(scoped):
    class Counting(TextExtractor):
        read = 0

        async def extract(self, memories):
            self.read += len(memories)
            return await super().extract(memories)

    extractor = Counting()
    with pytest.raises(AccessDeniedError):
        await ingestor(scoped, refusing("m1"), extractor=extractor).remember([MEETS])
    assert extractor.read == 0
    with pytest.raises(UnknownScopeError):
        await scoped.statistics()


async def test_batches_before_a_refused_one_stay(scoped, monkeypatch):
    monkeypatch.setattr("graphsearch.ingest.ingestor.BATCH", 1)
    last = Memory(id="m3", text="Mary Somerville works with Ada Lovelace.", occurred_at=NOON)
    with pytest.raises(AccessDeniedError, match="none of them was changed"):
        await ingestor(scoped, refusing("reports_to")).remember([MEETS, REPORTS, last])
    assert await held(scoped) == ({"Ada Lovelace", "Charles Babbage"}, {"works_with"}, {"m1": MEETS.text})
    authorizer = refusing()
    report = await ingestor(scoped, authorizer).remember([MEETS, REPORTS, last])
    assert report.changed == 2
    assert "m1" not in {name for action, _, name in authorizer.asked if action == "write"}


async def test_what_is_unchanged_costs_no_question(scoped, tmp_path):
    (tmp_path / "a.py").write_text(FIRST)
    (tmp_path / "notes.md").write_text(MEETS.text)
    authorizer = refusing()
    both = ingestor(scoped, authorizer)
    await both.remember([REPORTS])
    await both.add(tmp_path, name="folder")
    assert authorizer.asked
    authorizer.asked.clear()
    await both.remember([REPORTS])
    await both.add(tmp_path, name="folder")
    assert authorizer.asked == []


async def test_what_a_changed_memory_replaces_is_asked_for(scoped):
    await Ingestor(GraphSearchEngine(store=scoped)).remember([attrs.evolve(MEETS, labels=["secret"]), REPORTS])
    before = await held(scoped)
    changed = attrs.evolve(MEETS, text="Ada Lovelace reports to Charles Babbage.")
    for refused in ("secret", "works_with"):  # the memory as it was, and the relation that it no longer asserts
        with pytest.raises(AccessDeniedError):
            await ingestor(scoped, refusing(refused)).remember([changed])
        assert await held(scoped) == before
    await ingestor(scoped, refusing("nobody")).remember([changed])
    assert (await held(scoped))[1] == {"reports_to"}


async def test_a_relation_that_is_stored_is_asked_for_as_it_is_stored(scoped):
    await Ingestor(GraphSearchEngine(store=scoped)).remember([MEETS])
    (stored,) = await scoped.list_relations()
    same = Relation(
        source_id=stored.source_id,
        type=stored.type,
        target_id=stored.target_id,
        valid_from=stored.valid_from,
        labels=["secret"],
    )
    await scoped.delete(relations=[stored.id])
    await scoped.write(Batch(relations=[same]))
    with pytest.raises(AccessDeniedError):
        await ingestor(scoped, refusing("secret")).remember([attrs.evolve(MEETS, id="m2")])
    assert (await held(scoped))[2].keys() == {"m1"}


@pytest.mark.parametrize("refused", ["works_at", "nothing"])
async def test_the_first_batch_of_a_scope_is_asked_for_too(scoped, refused):
    stated = Claim(memory_id="m1", source_id=UUID(int=1), type="works_at", target_id=UUID(int=2), confidence=0.9)
    permission = Permission(scoped, Gate(refusing(refused), Principal(id="bot")))
    may = nullcontext() if refused == "nothing" else pytest.raises(AccessDeniedError, match="write is denied")
    with may:
        await permission.to_write(Batch(memories=[MEETS], claims=[stated]), {})


# -- folders ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("refused", ["a.first", "calls"])
async def test_a_folder_is_refused_batch_by_batch(scoped, tmp_path, refused):
    """The entities that its files describe are written first, and stay."""
    (tmp_path / "a.py").write_text(FIRST)
    with pytest.raises(AccessDeniedError):
        await ingestor(scoped, refusing(refused)).add(tmp_path, name="folder")
    names, relations, memories = await held(scoped)
    assert ({"a.first", "a.second"} <= names) is (refused == "calls")
    assert (relations, memories) == (set(), {})


async def test_an_entity_is_asked_for_as_it_was_and_as_it_will_be(scoped, tmp_path):
    (tmp_path / "a.py").write_text(FIRST)
    await ingestor(scoped, refusing()).add(tmp_path, name="folder")
    (first,) = [each for each in await scoped.list_entities() if each.name == "a.first"]
    await scoped.write(Batch(entities=[attrs.evolve(first, labels=["secret"])]))
    (tmp_path / "a.py").write_text(FIRST.replace("first():", "first(new):"))
    with pytest.raises(AccessDeniedError, match="write is denied"):
        await ingestor(scoped, refusing("secret")).add(tmp_path, name="folder")
    (now,) = [each for each in await scoped.list_entities() if each.name == "a.first"]
    assert now.labels == ("secret",)


async def test_what_is_gone_from_a_folder_is_forgotten_by_who_may_forget(scoped, tmp_path):
    (tmp_path / "notes.md").write_text(MEETS.text)
    (tmp_path / "others.md").write_text(REPORTS.text)
    await ingestor(scoped, refusing()).add(tmp_path, name="folder")
    before = await held(scoped)
    (tmp_path / "notes.md").unlink()
    authorizer = refusing("", actions=[Action.FORGET])  # names no relation, no label and no subject: all of these
    with pytest.raises(AccessDeniedError, match="forget is denied"):
        await ingestor(scoped, authorizer).add(tmp_path, name="folder")
    assert await held(scoped) == before
    report = await ingestor(scoped, refusing()).add(tmp_path, name="folder")
    assert report.forgotten > 0
    assert "Ada Lovelace" not in (await held(scoped))[0]


async def test_what_nothing_names_any_more_is_removed_by_who_may_forget_it(scoped):
    await ingestor(scoped, refusing()).remember([MEETS])
    other = attrs.evolve(MEETS, text="Ada Lovelace works with Mary Somerville.")
    with pytest.raises(AccessDeniedError, match="forget is denied"):
        await ingestor(scoped, refusing("Charles Babbage", actions=[Action.FORGET])).remember([other])
    names, _, memories = await held(scoped)
    assert "Charles Babbage" in names
    assert memories == {"m1": other.text}  # that batch was allowed, and stays
