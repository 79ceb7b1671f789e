"""Isolation: changes in one scope leave every answer of another equal."""

from __future__ import annotations

import random
from typing import Final

import attrs
import pytest

from graphsearch.errors import InvalidInputError, UnknownScopeError
from graphsearch.model import Batch, Community, Injection, Memory, MemoryLink, Outcome, RelationType, Scope
from graphsearch.protocols import GraphStore
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.testing.samples import claim, day, mention, portrait, ref, vector
from graphsearch.testing.spec import StoreSpec, Unscoped
from graphsearch.testing.spec_claims import PEOPLE, random_memories

EMBEDDER: Final = HashEmbedder(8)
ADA, BOB, EVE = PEOPLE[:3]


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


class IsolationSpec(StoreSpec):
    """`with_scope`."""

    def test_a_scope_has_both_of_its_parts(self, unscoped: Unscoped) -> None:
        for org, project in (("", "p"), ("o", ""), (" ", "p"), ("o", "a\0b")):
            with pytest.raises(InvalidInputError):
                unscoped.with_scope(org_id=org, project_id=project)

    async def test_the_unscoped_store_reads_and_writes_nothing(self, unscoped: Unscoped, store: GraphStore) -> None:
        for name in ("write", "get_entities", "list_entities", "search_by_embedding", "expand", "statistics", "forget"):
            assert hasattr(store, name)
            assert not hasattr(unscoped, name)

    async def test_two_handles_of_one_scope_are_one_graph(self, unscoped: Unscoped, store: GraphStore) -> None:
        await store.write(Batch(entities=(ADA,)))
        again = unscoped.with_scope(org_id=store.scope.org_id, project_id=store.scope.project_id)
        assert again.scope == store.scope
        assert await again.list_entities() == await store.list_entities()

    async def test_a_neighbouring_scope_stays_unknown(self, unscoped: Unscoped, store: GraphStore) -> None:
        await self._fill(store, 0)
        for scope in neighbours(store.scope):
            other = unscoped.with_scope(org_id=scope.org_id, project_id=scope.project_id)
            with pytest.raises(UnknownScopeError):
                await other.list_entities()

    @pytest.mark.parametrize("seed", range(3))
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
            await other.write(
                Batch(entities=(attrs.evolve(ADA, name="Nobody", description="changed", aliases=("Bob",)),))
            )
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
        await store.write(Batch(entities=(ADA,), vectors={ADA.id: vector(1, 0)}))
        await other.write(Batch(entities=(ADA,), vectors={ADA.id: vector(0, 0, 1)}))
        assert (await store.statistics()).dimensions == 2
        assert (await other.statistics()).dimensions == 3

    async def _fill(self, store: GraphStore, seed: int) -> None:
        memories = random_memories(random.Random(seed), 6)
        note = Memory(id="note", text=f"Ada and Bob, {seed}", occurred_at=day(1))
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
        await store.write(
            Batch(
                entities=PEOPLE,
                memories=(*(memory for memory, _ in memories), note),
                mentions=(mention(note, ADA), mention(note, BOB)),
                claims=(*(each for _, claims in memories for each in claims), claim(note, ADA, BOB, "admires")),
                vectors={each.id: EMBEDDER.vector(f"{each.name} {seed}") for each in PEOPLE},
            )
        )
        await store.link_memories([MemoryLink(from_id="note", to_id="m0", type=f"type {seed}")])
        await store.mark_distinct([(ADA.id, BOB.id)])
        ends = sorted((ADA.id, BOB.id))
        await store.write_communities(
            [Community(id=ADA.id, members=ends, strengths=[seed, 1], density=1, top=ends, label="")]
        )
        await store.apply_outcome("session", Outcome.ACCEPTED, [ref(ADA), ref(note)])
        await store.log_injection(
            Injection(
                id="injection",
                session_id="session",
                principal="ada",
                created_at=day(seed),
                tokens=seed,
                elements=(ref(ADA),),
            )
        )

    async def _portrait(self, store: GraphStore) -> object:
        return await portrait(
            store, questions=("ada", "said fact", "bob"), vectors=[EMBEDDER.vector("Ada"), EMBEDDER.vector("Bob 1")]
        )
