"""Merging and undoing it, and forgetting: afterwards the graph is as if it had never been."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from hypothesis import given

from graphsearch.model import ElementKind, Entity, Memory, Mention, Outcome, Span, UndoReport
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import ADA, BOB, EVE, claim, day, mention, person, put, ref, relation, view
from graphsearch.testing.spec import FreshScope, StoreSpec
from graphsearch.testing.strategies import (
    EMBEDDER,
    AnnotatedMemory,
    annotated_memories,
    answers,
    few_examples,
    forget,
    write_memories,
)

COUNTESS = person("Countess")
ONE, TWO = Memory(id="one", occurred_at=day(1)), Memory(id="two", occurred_at=day(2))


async def two_people(store: GraphStore) -> None:
    """Write Ada and a countess who is the same person, with what two memories say of them."""
    await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
    people = (attrs.evolve(COUNTESS, aliases=("AAL",)), ADA, BOB, EVE)
    named = (mention(ONE, COUNTESS), surface_mention("one", COUNTESS, "C."), mention(TWO, ADA), mention(TWO, BOB))
    said = claim(ONE, COUNTESS, BOB, fact="old"), claim(TWO, ADA, BOB, fact="new"), claim(TWO, EVE, COUNTESS)
    links = relation(COUNTESS, EVE, "likes"), relation(COUNTESS, ADA, "is_like")
    vectors = {each.id: EMBEDDER.vector(each.name) for each in (COUNTESS, ADA)}
    await put(store, *people, ONE, TWO, *named, *said, *links, vectors=vectors)


def surface_mention(memory: Memory | str, entity: Entity, surface: str, start: int = 0) -> Mention:
    """A mention with a surface of its own."""
    key = memory if isinstance(memory, str) else memory.id
    return Mention(memory_id=key, entity_id=entity.id, surface=surface, span=Span(start=start, end=start + 1))


class MergingSpec(StoreSpec):
    """`merge`, `undo_merge`, `merges`."""

    async def test_undoing_restores_what_was(self, store: GraphStore, clock: FixedClock) -> None:
        await two_people(store)
        (known,) = [
            each for each in await store.list_relations() if each.source_id == COUNTESS.id and each.type == "knows"
        ]
        await store.apply_outcome("s", Outcome.ACCEPTED, [ref(known)])
        before, history = await answers(store), await store.get_relations([known.id])
        made = await store.merge(COUNTESS.id, ADA.id)
        clock.advance(days=1)
        assert await store.undo_merge(made.id) == UndoReport(mentions=2, claims=2, relations=4, stayed=0, forgotten=0)
        assert await answers(store) == before
        assert await store.get_relations([known.id]) == history
        assert await store.merges() == [attrs.evolve(made, undone_at=clock.now())]
        again = await store.merge(COUNTESS.id, ADA.id)
        assert again.id != made.id
        await store.undo_merge(again.id)
        assert await answers(store) == before


class ForgettingSpec(StoreSpec):
    """`forget`."""

    async def test_what_nothing_else_proves_goes(self, store: GraphStore) -> None:
        one, two = Memory(id="one", text="Ada knows Bob."), Memory(id="two", text="Eve, secretly.", source="confession")
        mentions = mention(one, ADA), mention(one, BOB), mention(two, EVE), mention(two, ADA)
        claims = claim(one, ADA, BOB), claim(two, ADA, BOB, fact="A secret."), claim(two, EVE, BOB)
        await put(store, ADA, BOB, EVE, person("Bystander"), one, two, *mentions, *claims)
        await store.apply_outcome("s", Outcome.ACCEPTED, [ref(two), ref(EVE)])
        before, gone = await answers(store), ["two", "two", "absent"]
        planned = await store.forget(gone, dry_run=True)
        assert await answers(store) == before
        report = await store.forget(gone)
        assert report == planned
        assert (report.memories, report.entities_removed) == (1, 1)
        assert {each.name for each in await store.list_entities()} == {"Ada", "Bob", "Bystander"}
        (left,) = await store.list_relations()
        assert (left.source_id, left.fact, left.evidence) == (ADA.id, "", ("one",))
        assert await store.get_memories(["two"]) == []
        assert await store.list_mentions(memory_ids=["two"], entity_ids=[EVE.id]) == []
        assert await store.list_claims(memory_ids=["two"]) == []
        assert await store.outcomes([ref(two), ref(EVE)]) == []
        for kind in ElementKind:
            for asked in ("secretly", "secret", "eve"):
                assert len(await store.search_lexical(kind, asked, limit=5, view=view())) == 0

    @few_examples
    @given(annotated_memories("a"), annotated_memories("b"))
    async def test_forgetting_equals_never_having_written(
        self, fresh: FreshScope, first: Sequence[AnnotatedMemory], second: Sequence[AnnotatedMemory]
    ) -> None:
        alone, both = fresh(), fresh()
        for store in (alone, both):
            await put(store, Memory(id="before"))
            await write_memories(store, first)
        await write_memories(both, second)
        await forget(both, second)
        assert await answers(both) == await answers(alone)
