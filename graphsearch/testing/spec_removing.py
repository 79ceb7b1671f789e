"""Removing a scope: afterwards it is as if nothing had ever been written to it."""

from __future__ import annotations

import pytest

from graphsearch.errors import UnknownScopeError
from graphsearch.model import Batch, Entity, Injection, Memory, Outcome, RelationType, Statistics
from graphsearch.protocols import GraphStore
from graphsearch.testing.samples import claim, day, mention, person, portrait, ref, vector
from graphsearch.testing.spec import FreshScope, StoreSpec, Unscoped

ADA, BOB = person("Ada"), person("Bob")
NOTE = Memory(id="note", text="Ada knows Bob", occurred_at=day(1))


class RemovingSpec(StoreSpec):
    """`remove_scope`."""

    async def test_of_a_removed_scope_nothing_is_left(self, unscoped: Unscoped, store: GraphStore) -> None:
        other = unscoped.with_scope(org_id=store.scope.org_id, project_id="other")
        await self._put_one_of_each(store)
        await self._put_one_of_each(other)
        before = await portrait(other, questions=("Ada",), vectors=[vector(1, 1)])
        await store.remove_scope()
        for read in (store.statistics, store.list_memories, store.embedder_name, store.relation_types):
            with pytest.raises(UnknownScopeError):
                await read()
        assert await portrait(other, questions=("Ada",), vectors=[vector(1, 1)]) == before

    async def test_a_removed_scope_can_be_written_to_again(self, store: GraphStore, fresh: FreshScope) -> None:
        await self._put_one_of_each(store)
        await store.remove_scope()
        await store.bind_embedder("another", 3)
        await store.write(Batch(entities=(ADA,)))
        found: Statistics = await store.statistics()
        assert (found.entities, found.memories, found.relations, found.embedder) == (1, 0, 0, "another")
        assert found.counters == {}
        never = fresh()
        await never.write(Batch())
        assert await store.relation_types() == await never.relation_types()
        assert await store.injections("session") == []
        assert await store.outcomes([ref(ADA)]) == []

    async def test_removing_what_was_never_written_does_nothing(self, store: GraphStore) -> None:
        await store.remove_scope()
        with pytest.raises(UnknownScopeError):
            await store.statistics()

    async def _put_one_of_each(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        await store.register_types([RelationType(name="knows", prior=0.5)])
        await store.write(
            Batch(
                entities=(ADA, BOB, Entity(type="place", name="Lab", labels=("quiet",))),
                memories=(NOTE,),
                mentions=(mention(NOTE, ADA), mention(NOTE, BOB)),
                claims=(claim(NOTE, ADA, BOB),),
                vectors={ADA.id: vector(1, 0)},
                counters={"seen": 1},
            )
        )
        await store.apply_outcome("session", Outcome.ACCEPTED, [ref(ADA)])
        await store.log_injection(
            Injection(
                id="injection",
                session_id="session",
                principal="ada",
                created_at=day(1),
                tokens=1,
                elements=(ref(ADA),),
            )
        )
