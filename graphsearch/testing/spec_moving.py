"""A scope: apart from others, seen in one state, moved as records, and with a change of its embedding model."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID, uuid4

import attrs
import numpy as np
import pytest

from graphsearch.errors import InvalidInputError, UnknownScopeError
from graphsearch.model import (
    Community,
    CommunitySummary,
    ElementKind,
    ElementRef,
    Entity,
    Injection,
    Memory,
    MemoryLink,
    Outcome,
    Relation,
    RelationType,
    Scope,
    Statistics,
    SummarySentence,
    Vector,
)
from graphsearch.model.reembedding import Element, NewVector
from graphsearch.model.stored import Record, RecordKind, ScopeSettings, key_of
from graphsearch.reembedding import reembed
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import NOON, HashEmbedder
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    batch_of,
    claim,
    day,
    injection,
    mention,
    person,
    portrait,
    put,
    ref,
    relation,
    vector,
    view,
)
from graphsearch.testing.spec import FreshScope, StoreSpec, Unscoped
from graphsearch.testing.spec_claims import PEOPLE, random_memories
from graphsearch.testing.strategies import EMBEDDER, QUESTIONS, answers
from graphsearch.text.bm25 import embedding_text

COUNTESS = person("Countess")
ONE, TWO, THREE = (Memory(id=f"m{at}", text=f"said {at}", session_id="s", position=at) for at in range(3))


async def pages_of(store: GraphStore, *, size: int = 50) -> AsyncIterator[Sequence[Record]]:
    """All records of a scope, a few at a time."""
    for kind in RecordKind:
        after = None
        while page := await store.records(kind, after=after, limit=size):
            yield page
            after = key_of(page[-1])


async def everything(store: GraphStore) -> tuple[ScopeSettings, list[Any]]:
    """The settings and all records, in values that can be compared."""
    async with store.snapshot():
        return await store.settings(), [comparable(each) async for page in pages_of(store) for each in page]


def comparable(record: Record) -> Any:
    """A record in values that can be compared: without the order of mentions and claims, and with lists for vectors."""
    fields = {field.name: getattr(record, field.name) for field in attrs.fields(type(record))}
    for name in ("mentions", "claims"):
        if name in fields and isinstance(fields[name], tuple):
            fields[name] = sorted(map(repr, fields[name]))
    if isinstance(vector := fields.get("vector"), np.ndarray):
        fields["vector"] = vector.tolist()
    return type(record).__name__, sorted((name, repr(value)) for name, value in fields.items())


async def moved(store: GraphStore, fresh: FreshScope) -> GraphStore:
    """A new scope with the content of another."""
    other = fresh()
    async with store.snapshot():
        await other.load(await store.settings(), pages_of(store))
    await other.settle()
    return other


async def full_portrait(store: GraphStore) -> Mapping[str, Any]:
    """Everything that can be read from a scope, with creation times, feedback and curation."""
    vectors = [EMBEDDER.vector(question) for question in QUESTIONS]
    whole = await portrait(store, questions=QUESTIONS, vectors=vectors)
    return {**await answers(store), **whole, "merges": await store.merges(), "injections": await store.injections("s1")}


async def lived_in(store: GraphStore) -> GraphStore:
    """A scope with something of every kind."""
    await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
    await store.register_types(
        [RelationType(name="likes", prior=0.7, hop_scores=(1.0, 0.5)), RelationType(name="uses")]
    )
    entities = (ADA, attrs.evolve(BOB, labels=("secret",), attributes={"owner": "eve", "n": 1.5}), EVE, COUNTESS)
    likes = relation(COUNTESS, EVE, "likes", valid_from=day(1), fact="likes", labels=("x",), attributes={"a": [1, "b"]})
    batch = batch_of(
        entities=entities,
        memories=(attrs.evolve(ONE, occurred_at=day(1)), TWO, attrs.evolve(THREE, labels=("secret",))),
        mentions=(mention(ONE, COUNTESS, surface="C."), mention(TWO, ADA), mention(THREE, BOB)),
        claims=(
            claim(ONE, COUNTESS, BOB, fact="old"),
            claim(TWO, ADA, BOB, fact="new"),
            claim(TWO, ADA, BOB, "works_at", valid_from=day(2)),
            claim(THREE, ADA, EVE, "works_at", valid_from=day(5)),
        ),
        relations=(likes, relation(COUNTESS, ADA, "is_like")),
        vectors={
            **{each.id: EMBEDDER.vector(each.name) for each in entities},
            **{each.id: EMBEDDER.vector(each.text) for each in (ONE, TWO)},
            likes.id: EMBEDDER.vector("likes"),
        },
        words={ADA.id: {"analytical": 2.0, "engine": 0.5}},
        counters={"read": 3},
    )
    await store.write(batch)
    await store.link_memories([MemoryLink(from_id="m0", to_id="m1"), MemoryLink(from_id="m2", to_id="m1", type="see")])
    await store.mark_distinct([(ADA.id, EVE.id)])
    first = await store.merge(COUNTESS.id, ADA.id)
    await store.undo_merge(first.id)
    await store.merge(COUNTESS.id, ADA.id)
    members = sorted((ADA.id, BOB.id))
    community = Community(id=uuid4(), members=members, strengths=(1.5, 2.0), density=0.5, top=(ADA.id,), label="")
    await store.write_communities([community])
    (written,) = await store.communities()
    sentence = SummarySentence(text="Ada — and “Bob”.", cites=[ref(ONE), ref(likes)])
    summary = CommunitySummary(sentences=[sentence], fingerprint="0a" * 32, model="fake", written_at=NOON)
    assert await store.write_summary(attrs.evolve(written, summary=summary), version=await store.version())
    elements = [ref(ADA), ref(ONE), ref(likes)]
    await store.log_injection(
        Injection(id="i1", session_id="s1", principal="User::ada", created_at=NOON, tokens=7, elements=elements)
    )
    await store.apply_outcome("s1", Outcome.ACCEPTED, elements)
    await store.apply_outcome("s2", Outcome.REJECTED, elements[:2])
    return store


async def _undo_last_merge(store: GraphStore) -> object:
    return await store.undo_merge((await store.merges())[-1].id)


CHANGES: Mapping[str, Callable[[GraphStore], Awaitable[object]]] = {
    "nothing": lambda store: store.embedder_name(),
    "a merge from before is undone": _undo_last_merge,
    "outcomes from before are replaced": lambda store: store.apply_outcome(
        "s1", Outcome.REJECTED, [ref(ADA), ref(BOB)]
    ),
    "memories are forgotten": lambda store: store.forget(["m0", "m2"]),
}


class MovingSpec(StoreSpec):
    """Settings and records read and loaded."""

    @pytest.mark.parametrize("change", CHANGES)
    async def test_a_moved_scope_is_read_and_changed_as_the_other(
        self, store: GraphStore, fresh: FreshScope, change: str
    ) -> None:
        await lived_in(store)
        other = await moved(store, fresh)
        assert await CHANGES[change](other) == await CHANGES[change](store)
        assert await everything(other) == await everything(store)
        assert await full_portrait(other) == await full_portrait(store)


OLD, NEW, THIRD = HashEmbedder(16, name="old"), HashEmbedder(24, name="new"), HashEmbedder(8, name="third")
NOTED, AWAY = Memory(id="one", text="Ada knows Bob."), Memory(id="two", text="Eve is away.", speaker="Eve")
KNOWS: Final = relation(ADA, BOB, fact="Ada knows Bob.")
KINDS: Final = tuple(ElementKind)


async def remade(outdated: Sequence[Element]) -> Sequence[NewVector]:
    """The vectors of the new model."""
    return [(each, NEW.vector(text) if (text := embedding_text(each)).strip() else None) for each in outdated]


def made(embedder: HashEmbedder, *elements: Entity | Memory | Relation) -> dict[UUID | str, Vector]:
    """The vectors of elements."""
    return {each.id: embedder.vector(embedding_text(each)) for each in elements}


async def written(store: GraphStore, embedder: HashEmbedder = OLD) -> GraphStore:
    """A scope with vectors of every kind, and an entity and a memory without one."""
    await store.bind_embedder(embedder.name, embedder.dimensions)
    vectors = made(embedder, ADA, BOB, NOTED, KNOWS)
    await put(store, ADA, BOB, EVE, NOTED, AWAY, KNOWS, vectors=vectors)
    return store


async def seen(store: GraphStore, embedder: HashEmbedder = NEW) -> Any:
    """All that can be read from a scope, its vectors, and what is found by them."""
    vectors = [embedder.vector(question) for question in QUESTIONS]
    own, records = await everything(store)
    return attrs.evolve(own, id_key=None), records, await portrait(store, questions=QUESTIONS, vectors=vectors)


class ReembeddingSpec(StoreSpec):
    """A change of the embedding model, and `reembed` with it."""

    async def test_a_scope_is_as_if_written_with_the_new_model(self, store: GraphStore, fresh: FreshScope) -> None:
        await written(store)
        reports: list[tuple[int, int, str]] = []
        report = await reembed(
            store, NEW, batch=1, progress=lambda done, total, name: reports.append((done, total, name))
        )
        assert (report.switched, report.embedder, report.dimensions) == (True, NEW.name, NEW.dimensions)
        assert report.embedded == {ElementKind.ENTITY: 2, ElementKind.MEMORY: 1, ElementKind.RELATION: 1}
        assert [each[:2] for each in reports] == [(1, 4), (2, 4), (3, 4), (4, 4)]
        assert await seen(store) == await seen(await written(fresh(), NEW))
        assert await store.reembedding() is None
        again = await reembed(store, NEW)
        assert (again.switched, sum(again.embedded.values())) == (False, 0)


SMALL: Final = HashEmbedder(8)


def neighbours(scope: Scope) -> list[Scope]:
    """Scopes that a careless store would confuse with this one."""
    org, project = scope.org_id, scope.project_id
    return [
        Scope(org, "other"),
        Scope("other" + org, project),
        Scope(org, project + "x"),
        Scope(org + "x", project),
        Scope(org[:-1] + "_", project),
        Scope(org, "%"),
        Scope(org.upper(), project.upper()),
        Scope(org + " ", project),
        Scope(f"{org}/{project}", project),
        Scope(project, org),
    ]


class ScopesSpec(StoreSpec):
    """`with_scope`, `snapshot`, `version`, `remove_scope`, and vectors by key."""

    def test_a_scope_has_both_of_its_parts(self, unscoped: Unscoped) -> None:
        for org, project in (("", "p"), ("o", ""), (" ", "p"), ("o", "a\0b")):
            with pytest.raises(InvalidInputError):
                unscoped.with_scope(org_id=org, project_id=project)

    async def test_two_handles_of_one_scope_are_one_graph(self, unscoped: Unscoped, store: GraphStore) -> None:
        await put(store, ADA)
        again = unscoped.with_scope(org_id=store.scope.org_id, project_id=store.scope.project_id)
        assert again.scope == store.scope
        assert await again.list_entities() == await store.list_entities()

    async def test_a_neighbouring_scope_stays_unknown(self, unscoped: Unscoped, store: GraphStore) -> None:
        await self._fill(store, 0)
        for scope in neighbours(store.scope):
            other = unscoped.with_scope(org_id=scope.org_id, project_id=scope.project_id)
            with pytest.raises(UnknownScopeError):
                await other.list_entities()

    @pytest.mark.parametrize("seed", range(2))
    async def test_changes_in_one_scope_move_no_answer_of_another(
        self, unscoped: Unscoped, store: GraphStore, seed: int
    ) -> None:
        rng = random.Random(seed)
        await self._fill(store, seed)
        before = await self._portrait(store)
        for scope in rng.sample(neighbours(store.scope), 4):
            other = unscoped.with_scope(org_id=scope.org_id, project_id=scope.project_id)
            await self._fill(other, seed + 100)
            await other.register_types([RelationType(name="knows", prior=0.1, functional=True, skip=True)])
            await other.apply_outcome("session", Outcome.REJECTED, [ref(ADA), ref(BOB)])
            await put(other, attrs.evolve(ADA, name="Nobody", description="changed", aliases=("Bob",)))
            await other.mark_distinct([(ADA.id, BOB.id)], distinct=False)
            await other.write_communities([])
            await other.forget(["m1", "m2", "note"])
            await other.delete(entities=[EVE.id])
        assert await self._portrait(store) == before
        assert [each.id for each in await store.injections("session")] == ["injection"]

    async def test_each_scope_has_its_own_model(self, unscoped: Unscoped, store: GraphStore) -> None:
        other = unscoped.with_scope(org_id=store.scope.org_id, project_id="other")
        await store.bind_embedder("one", 2)
        await other.bind_embedder("two", 3)
        await put(store, ADA, vectors={ADA.id: vector(1, 0)})
        await put(other, ADA, vectors={ADA.id: vector(0, 0, 1)})
        assert (await store.statistics()).dimensions == 2
        assert (await other.statistics()).dimensions == 3

    async def _fill(self, store: GraphStore, seed: int) -> None:
        memories = random_memories(random.Random(seed), 6)
        note = Memory(id="note", text=f"Ada and Bob, {seed}", occurred_at=day(1))
        await store.bind_embedder(SMALL.name, SMALL.dimensions)
        await store.register_types([RelationType(name="knows", prior=0.5)])
        await put(
            store,
            entities=PEOPLE,
            memories=(*(memory for memory, _ in memories), note),
            mentions=(mention(note, ADA), mention(note, BOB)),
            claims=(*(each for _, claims in memories for each in claims), claim(note, ADA, BOB, "admires")),
            vectors={each.id: SMALL.vector(f"{each.name} {seed}") for each in PEOPLE},
            counters={"seen": 1},
        )
        await store.link_memories([MemoryLink(from_id="note", to_id="m0", type=f"type {seed}")])
        await store.mark_distinct([(ADA.id, BOB.id)])
        ends = sorted((ADA.id, BOB.id))
        await store.write_communities(
            [Community(id=ADA.id, members=ends, strengths=[seed, 1], density=1, top=ends, label="")]
        )
        await store.apply_outcome("session", Outcome.ACCEPTED, [ref(ADA), ref(note)])
        await store.log_injection(injection("injection", "session", seed, ref(ADA)))

    async def _portrait(self, store: GraphStore) -> object:
        return await portrait(
            store, questions=("ada", "said fact", "bob"), vectors=[SMALL.vector("Ada"), SMALL.vector("Bob 1")]
        )

    async def test_writes_are_seen_after_the_snapshot_not_in_it(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        memory = Memory(id="m", text="Ada knows Bob.")
        await put(store, ADA, BOB, memory, claim(memory, ADA, BOB), vectors={ADA.id: vector(1, 0)})
        written = asyncio.Event()
        opened = asyncio.Event()

        async def write() -> None:
            await opened.wait()
            await put(store, EVE, relation(ADA, EVE), vectors={EVE.id: vector(1, 0)})
            await store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA)])
            await store.forget(["m"])
            written.set()

        writer = asyncio.create_task(write())
        async with store.snapshot():
            before = await portrait(store, vectors=[vector(1, 0)])
            keys = (await store.locate([ADA.id, BOB.id], view=view())).keys
            opened.set()
            await written.wait()
            assert await portrait(store, vectors=[vector(1, 0)]) == before
            assert list(store.entity_ids(keys)) == sorted((ADA.id, BOB.id))
            assert len(await store.expand(keys, fan_out=5, view=view())) == 2  # one relation, from either end
            async with store.snapshot():
                assert {each.name for each in await store.list_entities()} == {"Ada", "Bob"}
            assert await asyncio.create_task(store.get_entities([EVE.id])) == []
        await writer
        assert {each.name for each in await store.list_entities()} == {"Ada", "Eve"}
        assert await store.list_memories() == []

    async def test_a_version_moves_with_what_is_written_and_with_nothing_else(self, store: GraphStore) -> None:
        await put(store, ADA, BOB, KNOWS)
        seen = [await store.version()]
        assert await store.version() == seen[0]
        await store.apply_outcome("s", Outcome.ACCEPTED, [ElementRef(ElementKind.RELATION, str(KNOWS.id))])
        await store.settle()
        assert await store.version() == seen[0]
        await put(store, relation(ADA, BOB, fact="Ada has known Bob for years."))
        seen.append(await store.version())
        await store.register_types([RelationType(name="knows", prior=0.5)])
        seen.append(await store.version())
        await put(store, Memory(id="m", text="Eve"), EVE, mention(Memory(id="m", text="Eve"), EVE))
        seen.append(await store.version())
        await store.forget(["m"])
        seen.append(await store.version())
        for changed in (
            batch_of(Memory(id="n", text="Eve")),
            batch_of(Memory(id="n", text="Eve", labels=("secret",))),
            batch_of(ADA, words={ADA.id: {"countess": 1.0}}),
        ):
            await store.write(changed)
            seen.append(await store.version())
        merge = await store.merge(BOB.id, ADA.id)
        seen.append(await store.version())
        await store.undo_merge(merge.id)
        seen.append(await store.version())
        await store.delete(entities=[BOB.id])
        seen.append(await store.version())
        assert len(set(seen)) == len(seen)

    async def test_of_a_removed_scope_nothing_is_left(self, unscoped: Unscoped, store: GraphStore) -> None:
        other = unscoped.with_scope(org_id=store.scope.org_id, project_id="other")
        await self._fill(store, 1)
        await self._fill(other, 1)
        before = await portrait(other, questions=("Ada",), vectors=[SMALL.vector("Ada")])
        await store.remove_scope()
        for read in (store.statistics, store.list_memories, store.embedder_name, store.id_key):
            with pytest.raises(UnknownScopeError):
                await read()
        assert await portrait(other, questions=("Ada",), vectors=[SMALL.vector("Ada")]) == before

    async def test_a_removed_scope_can_be_written_to_again(self, store: GraphStore, fresh: FreshScope) -> None:
        await self._fill(store, 1)
        await store.remove_scope()
        await store.bind_embedder("another", 3)
        await put(store, ADA)
        found: Statistics = await store.statistics()
        assert (found.entities, found.memories, found.relations, found.embedder) == (1, 0, 0, "another")
        assert found.counters == {}
        never = fresh()
        await put(never)
        assert await store.relation_types() == await never.relation_types()
        assert await store.injections("session") == []
        assert await store.outcomes([ref(ADA)]) == []
        await store.log_injection(
            injection("injection", "session", 1, principal="bob")
        )  # the session is anybody's again
        assert [each.principal for each in await store.injections("session")] == ["bob"]

    async def test_removing_what_was_never_written_does_nothing(self, store: GraphStore) -> None:
        await store.remove_scope()
        with pytest.raises(UnknownScopeError):
            await store.statistics()
