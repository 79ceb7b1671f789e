"""Scopes: apart from each other, seen in one state, with a version, and removed without a trace."""

from __future__ import annotations

import asyncio
import random
from typing import Final

import attrs
import numpy as np
import pytest

from graphsearch.errors import ForeignSessionError, InvalidInputError, UnknownScopeError
from graphsearch.model import (
    Community,
    ElementKind,
    ElementRef,
    Injection,
    Memory,
    MemoryLink,
    Outcome,
    RelationType,
    Scope,
    Statistics,
)
from graphsearch.protocols import GraphStore
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    batch_of,
    claim,
    day,
    mention,
    person,
    portrait,
    put,
    ref,
    relation,
    rows_of,
    vector,
    view,
)
from graphsearch.testing.spec import FreshScope, StoreSpec, Unscoped
from graphsearch.testing.spec_claims import PEOPLE, random_memories

EMBEDDER: Final = HashEmbedder(8)


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


KNOWS = relation(ADA, BOB, fact="Ada knows Bob.")


NOTE = Memory(id="note", text="Ada knows Bob", occurred_at=day(1))


def _injection(number: int = 1, *, principal: str = "ada") -> Injection:
    return Injection(
        id="injection",
        session_id="session",
        principal=principal,
        created_at=day(number),
        tokens=number,
        elements=(ref(ADA),),
    )


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
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
        await store.register_types([RelationType(name="knows", prior=0.5)])
        await put(
            store,
            entities=PEOPLE,
            memories=(*(memory for memory, _ in memories), note),
            mentions=(mention(note, ADA), mention(note, BOB)),
            claims=(*(each for _, claims in memories for each in claims), claim(note, ADA, BOB, "admires")),
            vectors={each.id: EMBEDDER.vector(f"{each.name} {seed}") for each in PEOPLE},
            counters={"seen": 1},
        )
        await store.link_memories([MemoryLink(from_id="note", to_id="m0", type=f"type {seed}")])
        await store.mark_distinct([(ADA.id, BOB.id)])
        ends = sorted((ADA.id, BOB.id))
        await store.write_communities(
            [Community(id=ADA.id, members=ends, strengths=[seed, 1], density=1, top=ends, label="")]
        )
        await store.apply_outcome("session", Outcome.ACCEPTED, [ref(ADA), ref(note)])
        await store.log_injection(_injection(seed))

    async def _portrait(self, store: GraphStore) -> object:
        return await portrait(
            store, questions=("ada", "said fact", "bob"), vectors=[EMBEDDER.vector("Ada"), EMBEDDER.vector("Bob 1")]
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
            opened.set()
            await written.wait()
            assert await portrait(store, vectors=[vector(1, 0)]) == before
            async with store.snapshot():
                assert {each.name for each in await store.list_entities()} == {"Ada", "Bob"}
            assert await asyncio.create_task(store.get_entities([EVE.id])) == []
        await writer
        assert {each.name for each in await store.list_entities()} == {"Ada", "Eve"}
        assert await store.list_memories() == []

    async def test_keys_are_good_as_long_as_the_snapshot(self, store: GraphStore) -> None:
        people = [person(f"P{number}") for number in range(20)]
        await put(store, *people[::2])
        opened, written = asyncio.Event(), asyncio.Event()

        async def write() -> None:
            await opened.wait()
            await put(store, *people, relation(people[0], people[1]))
            written.set()

        writer = asyncio.create_task(write())
        async with store.snapshot():
            ids = sorted(each.id for each in people[::2])
            hits = await store.locate(ids, view=view())
            opened.set()
            await written.wait()
            assert list(store.entity_ids(hits.keys)) == ids
            found = await store.expand(hits.keys, fan_out=5, view=view())
            assert rows_of(store, found) == []
        await writer

    async def test_keys_of_a_snapshot_inside_that_of_another_scope_are_of_their_own_scope(
        self, fresh: FreshScope
    ) -> None:
        one, two = fresh(), fresh()
        await put(one, ADA)
        await put(two, BOB, EVE)
        async with one.snapshot():
            outer = await one.search_lexical(ElementKind.ENTITY, "ada bob eve", limit=9, view=view())
            async with two.snapshot():
                inner = await two.search_lexical(ElementKind.ENTITY, "ada bob eve", limit=9, view=view())
                assert list(one.entity_ids(outer.keys)) == [ADA.id]
                assert set(two.entity_ids(inner.keys)) == {BOB.id, EVE.id}
            assert list(one.entity_ids(outer.keys)) == [ADA.id]

    async def test_an_error_inside_ends_the_snapshot(self, store: GraphStore) -> None:
        await put(store, ADA)
        with pytest.raises(RuntimeError, match="mine"):
            async with store.snapshot():
                raise RuntimeError("mine")
        await put(store, BOB)
        assert len(await store.list_entities()) == 2
        assert len(await store.search_lexical(ElementKind.ENTITY, "bob", limit=1, view=view())) == 1

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

    async def test_a_scope_made_again_has_another_version(self, store: GraphStore) -> None:
        await put(store, ADA)
        first = await store.version()
        await store.remove_scope()
        await put(store, ADA)
        assert await store.version() != first

    async def test_vectors_come_back_by_their_keys_as_they_are_searched(self, store: GraphStore) -> None:
        given = {ADA.id: (3.0, 4.0), BOB.id: (0.0, -2.0)}
        await store.bind_embedder("model", 2)
        vectors = {key: np.array(value, np.float32) for key, value in given.items()}
        await put(store, ADA, BOB, EVE, vectors=vectors)
        hits = await store.locate([ADA.id, BOB.id, EVE.id], view=view())
        for _ in range(2):
            there = (await store.vectors(ElementKind.ENTITY, hits.keys)).tolist()
            found = dict(zip(store.entity_ids(hits.keys), there, strict=True))
            assert np.allclose(found[ADA.id], (0.6, 0.8), atol=1e-3)
            assert np.allclose(found[BOB.id], (0.0, -1.0), atol=1e-3)
            assert found[EVE.id] == [0.0, 0.0]
            await store.settle()
        assert (await store.vectors(ElementKind.ENTITY, hits.keys[:0])).shape == (0, 2)

    async def test_of_a_removed_scope_nothing_is_left(self, unscoped: Unscoped, store: GraphStore) -> None:
        other = unscoped.with_scope(org_id=store.scope.org_id, project_id="other")
        await self._fill(store, 1)
        await self._fill(other, 1)
        before = await portrait(other, questions=("Ada",), vectors=[EMBEDDER.vector("Ada")])
        await store.remove_scope()
        for read in (store.statistics, store.list_memories, store.embedder_name, store.id_key):
            with pytest.raises(UnknownScopeError):
                await read()
        assert await portrait(other, questions=("Ada",), vectors=[EMBEDDER.vector("Ada")]) == before

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
        await store.log_injection(_injection(principal="bob"))  # the session is anybody's again
        assert [each.principal for each in await store.injections("session")] == ["bob"]

    async def test_each_scope_has_its_own_owner_of_a_session(self, store: GraphStore, fresh: FreshScope) -> None:
        other = fresh()
        for each, principal in ((store, "ada"), (other, "bob")):
            await put(each, ADA)
            await each.log_injection(_injection(principal=principal))
        for each, principal in ((store, "bob"), (other, "ada")):
            with pytest.raises(ForeignSessionError):
                await each.log_injection(attrs.evolve(_injection(principal=principal), id="another"))

    async def test_removing_what_was_never_written_does_nothing(self, store: GraphStore) -> None:
        await store.remove_scope()
        with pytest.raises(UnknownScopeError):
            await store.statistics()
