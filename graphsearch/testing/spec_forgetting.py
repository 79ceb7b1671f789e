"""Merging and undoing it, and forgetting: afterwards the graph is as if it had never been."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import attrs
import pytest

from graphsearch.errors import InvalidInputError, UnknownElementError
from graphsearch.model import ElementKind, ElementRef, Entity, Memory, Merge, Outcome, UndoReport
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import ADA, BOB, EVE, claim, day, injection, mention, person, put, ref, relation, view
from graphsearch.testing.spec import StoreSpec
from graphsearch.testing.spec_naming import surface_mention
from graphsearch.testing.strategies import EMBEDDER, answers

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


class MergingSpec(StoreSpec):
    """`merge`, `undo_merge`, `merges`."""

    async def test_claims_of_the_source_become_claims_of_the_target(self, store: GraphStore, clock: FixedClock) -> None:
        await two_people(store)
        clock.advance(hours=1)
        made = await store.merge(COUNTESS.id, ADA.id)
        ends: dict[str, Any] = {"source_id": COUNTESS.id, "target_id": ADA.id}
        assert made == Merge(id=made.id, created_at=clock.now(), mentions=2, claims=2, relations=4, **ends)
        assert (
            await store.merges() == await store.merges([ADA.id]) == await store.merges([COUNTESS.id, EVE.id]) == [made]
        )
        assert await store.merges([EVE.id]) == []
        source, target = await store.get_entities([COUNTESS.id, ADA.id])
        assert (source.merged_into, target.merged_into) == (ADA.id, None)
        assert target.aliases == ("AAL", "C.", "Countess")
        assert {each.entity_id for each in await store.list_mentions(memory_ids=["one"])} == {ADA.id}
        assert await store.list_mentions(entity_ids=[COUNTESS.id]) == []
        left = {(each.source_id, each.type, each.target_id) for each in await store.list_relations()}
        assert left == {(ADA.id, "knows", BOB.id), (EVE.id, "knows", ADA.id), (ADA.id, "likes", EVE.id)}
        (known,) = [each for each in await store.list_relations() if each.target_id == BOB.id]
        assert (known.evidence, known.fact, known.valid_from) == (("one", "two"), "new", day(1))
        (likes,) = await store.get_relations([relation(COUNTESS, EVE, "likes").id])
        assert (likes.source_id, likes.retracted_at) == (ADA.id, None)
        (loop,) = await store.get_relations([relation(COUNTESS, ADA, "is_like").id])
        assert (loop.source_id, loop.target_id, loop.retracted_at) == (ADA.id, ADA.id, clock.now())

    async def test_a_dry_run_changes_nothing(self, store: GraphStore) -> None:
        await two_people(store)
        before = await answers(store)
        trial = await store.merge(COUNTESS.id, ADA.id, dry_run=True)
        assert await answers(store) == before
        assert await store.merges() == []
        assert await store.merge(COUNTESS.id, ADA.id) == trial

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

    async def test_what_cannot_be_merged_or_undone_is_refused(self, store: GraphStore) -> None:
        await two_people(store)
        await put(store, Entity(type="tool", name="Engine"))
        for source, target in ((uuid4(), ADA.id), (ADA.id, uuid4())):
            with pytest.raises(UnknownElementError, match="no entity"):
                await store.merge(source, target)
        with pytest.raises(InvalidInputError, match="itself"):
            await store.merge(ADA.id, ADA.id)
        with pytest.raises(InvalidInputError, match="a person and a tool"):
            await store.merge(ADA.id, Entity(type="tool", name="Engine").id)
        made = await store.merge(COUNTESS.id, ADA.id)
        with pytest.raises(InvalidInputError, match="already"):
            await store.merge(COUNTESS.id, BOB.id)
        with pytest.raises(InvalidInputError, match="undo that first"):
            await store.merge(ADA.id, COUNTESS.id)
        with pytest.raises(InvalidInputError, match="merge into that"):
            await store.merge(BOB.id, COUNTESS.id)
        with pytest.raises(UnknownElementError, match="no merge"):
            await store.undo_merge(uuid4())
        await store.undo_merge(made.id)
        before = await answers(store)
        with pytest.raises(InvalidInputError, match="undone"):
            await store.undo_merge(made.id)
        assert await answers(store) == before

    # -- writes between merge and undo -----------------------------------------------------------------------------

    # -- properties ----------------------------------------------------------------------------------------------


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

    async def test_an_entity_stays_as_long_as_it_has_a_mention_or_a_relation(self, store: GraphStore) -> None:
        one, two = Memory(id="one"), Memory(id="two")
        lonely = person("Lonely")
        mentions = mention(one, ADA), mention(two, ADA), mention(one, BOB), mention(one, lonely)
        await put(store, ADA, BOB, EVE, lonely, one, two, *mentions, relation(BOB, EVE))
        await store.forget(["one"])
        assert {each.name for each in await store.list_entities()} == {"Ada", "Bob", "Eve"}

    async def test_a_given_relation_goes_with_the_last_of_its_evidence(self, store: GraphStore) -> None:
        given = relation(ADA, BOB, evidence=("one", "two"), valid_from=day(1), created_at=day(2))
        await put(store, ADA, BOB, Memory(id="one"), Memory(id="two"), given)
        await store.forget(["two"])
        assert await store.get_relations([given.id]) == [attrs.evolve(given, evidence=("one",))]
        await store.forget(["one"])
        assert await store.get_relations([given.id]) == []

    async def test_the_log_of_what_was_surfaced_names_nothing_forgotten(self, store: GraphStore) -> None:
        one, two = Memory(id="one"), Memory(id="two")
        claims = (claim(one, ADA, BOB), claim(two, ADA, EVE))
        await put(store, ADA, BOB, EVE, one, two, mention(one, ADA), *claims)
        known, lost = sorted(await store.list_relations(), key=lambda each: each.target_id == EVE.id)
        absent = ElementRef(ElementKind.MEMORY, "absent")
        before = (ref(two), ref(ADA), ref(lost), ref(known), ref(EVE), absent, ref(two), ref(one))
        logged = [
            injection("i1", "s", 1, *before),
            injection("i2", "s", 2, ref(two)),
            injection("i3", "s", 3, ref(one), ref(BOB)),
        ]
        for each in logged:
            await store.log_injection(each)
        report = await store.forget(["two"])
        assert report.references_removed == 5
        kept = (ref(ADA), ref(known), absent, ref(one))
        expected = [attrs.evolve(logged[0], elements=kept), attrs.evolve(logged[1], elements=()), logged[2]]
        assert await store.injections("s") == expected
        report = await store.delete(entities=[BOB.id])
        assert report.references_removed == 0
        assert await store.injections("s") == expected  # so that feedback can report it as missing

    # -- names that only the forgotten gave --------------------------------------------------------------------------
