"""Forgetting: afterwards the graph is as if the memory had never been written."""

from __future__ import annotations

import random
from collections.abc import Sequence

import attrs
import pytest

from graphsearch.model import Claim, ElementKind, ElementRef, Injection, Memory, Outcome, WriteReport
from graphsearch.protocols import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    claim,
    day,
    mention,
    person,
    portrait,
    put,
    ref,
    relation,
    vector,
    view,
    without_history,
)
from graphsearch.testing.spec import FreshScope, StoreSpec
from graphsearch.testing.spec_claims import PEOPLE, random_memories


class ForgettingSpec(StoreSpec):
    """`forget`."""

    @pytest.mark.parametrize("seed", range(3))
    async def test_a_forgotten_memory_leaves_the_graph_as_it_was(self, fresh: FreshScope, seed: int) -> None:
        rng = random.Random(seed)
        memories = random_memories(rng, 9)
        kept, forgotten = memories[:5], memories[5:]
        alone, both = fresh(), fresh()
        for store in (alone, both):
            await store.bind_embedder("model", 2)
            await self._ingest(store, kept)
        await self._ingest(both, forgotten)
        await both.apply_outcome("s", Outcome.ACCEPTED, [ref(memory) for memory, _ in forgotten])
        report = await both.forget([memory.id for memory, _ in forgotten])
        assert report.memories == len(forgotten)
        questions = ("said", *(memory.text for memory, _ in memories))
        expected = await portrait(alone, questions=questions, vectors=[vector(1, 1)])
        found = await portrait(both, questions=questions, vectors=[vector(1, 1)])
        assert without_history(found) == without_history(expected)

    async def test_a_dry_run_reports_the_same_and_changes_nothing(self, store: GraphStore) -> None:
        memories = random_memories(random.Random(1), 9)
        await store.bind_embedder("model", 2)
        await self._ingest(store, memories)
        before, gone = await portrait(store), [memory.id for memory, _ in memories[5:]]
        planned = await store.forget(gone, dry_run=True)
        assert await portrait(store) == before
        assert planned == await store.forget(gone)

    async def _ingest(self, store: GraphStore, memories: Sequence[tuple[Memory, tuple[Claim, ...]]]) -> None:
        named = {key for _, claims in memories for each in claims for key in (each.source_id, each.target_id)}
        people = tuple(each for each in PEOPLE if each.id in named)
        await put(
            store,
            entities=people,
            memories=tuple(memory for memory, _ in memories),
            claims=tuple(each for _, claims in memories for each in claims),
            vectors={memory.id: vector(number, 1) for number, (memory, _) in enumerate(memories)},
        )

    async def test_what_nothing_else_proves_goes(self, store: GraphStore) -> None:
        one, two = Memory(id="one", text="Ada knows Bob."), Memory(id="two", text="Eve, secretly.", source="confession")
        await put(
            store,
            entities=(ADA, BOB, EVE, person("Bystander")),
            memories=(one, two),
            mentions=(mention(one, ADA), mention(one, BOB), mention(two, EVE), mention(two, ADA)),
            claims=(claim(one, ADA, BOB), claim(two, ADA, BOB, fact="A secret."), claim(two, EVE, BOB)),
        )
        await store.apply_outcome("s", Outcome.ACCEPTED, [ref(two), ref(EVE)])
        report = await store.forget(["two", "two", "absent"])
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
        await put(
            store,
            entities=(ADA, BOB, EVE, lonely),
            memories=(one, two),
            mentions=(mention(one, ADA), mention(two, ADA), mention(one, BOB), mention(one, lonely)),
            relations=(relation(BOB, EVE),),
        )
        await store.forget(["one"])
        assert {each.name for each in await store.list_entities()} == {"Ada", "Bob", "Eve"}

    async def test_a_retracted_relation_goes_with_what_once_proved_it(
        self, store: GraphStore, clock: FixedClock
    ) -> None:
        memory = Memory(id="m", text="one")
        await put(store, ADA, BOB, memory, claim(memory, ADA, BOB, fact="A secret."))
        (known,) = await store.list_relations()
        clock.advance(days=1)
        await put(store, attrs.evolve(memory, text="two"))
        await store.forget(["m"])
        assert await store.get_relations([known.id]) == []

    async def test_a_given_relation_goes_with_the_last_of_its_evidence(self, store: GraphStore) -> None:
        given = relation(ADA, BOB, evidence=("one", "two"), valid_from=day(1), created_at=day(2))
        await put(store, ADA, BOB, Memory(id="one"), Memory(id="two"), given)
        await store.forget(["two"])
        assert await store.get_relations([given.id]) == [attrs.evolve(given, evidence=("one",))]
        await store.forget(["one"])
        assert await store.get_relations([given.id]) == []

    @pytest.mark.parametrize("rewritten", [False, True])
    async def test_signatures_that_quote_the_forgotten_or_rewritten_go(
        self, store: GraphStore, *, rewritten: bool
    ) -> None:
        memory = Memory(id="m", text="word", source="a secret source")
        await put(store, ADA, BOB, memory, claim(memory, ADA, BOB))
        hits = await store.search_lexical(ElementKind.MEMORY, "word", limit=1, view=view())
        codes = hits.signatures.tolist()
        assert set(await store.signatures(codes)) == set(codes)
        if rewritten:
            await put(store, attrs.evolve(memory, source="wiki"), claim(memory, ADA, BOB))
        else:
            await store.forget(["m"])
        assert await store.signatures(codes) == {}

    async def test_the_log_of_what_was_surfaced_names_nothing_forgotten(self, store: GraphStore) -> None:
        one, two = Memory(id="one"), Memory(id="two")
        claims = (claim(one, ADA, BOB), claim(two, ADA, EVE))
        await put(store, ADA, BOB, EVE, one, two, mention(one, ADA), *claims)
        known, lost = sorted(await store.list_relations(), key=lambda each: each.target_id == EVE.id)
        absent = ElementRef(ElementKind.MEMORY, "absent")
        before = (ref(two), ref(ADA), ref(lost), ref(known), ref(EVE), absent, ref(two), ref(one))
        logged = [_injection(1, *before), _injection(2, ref(two)), _injection(3, ref(one), ref(BOB))]
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

    async def test_a_reworded_fact_loses_its_vector(self, store: GraphStore) -> None:
        one, two = Memory(id="one", occurred_at=day(1)), Memory(id="two", occurred_at=day(2))
        claims = (
            claim(one, ADA, BOB, fact="They met."),
            claim(two, ADA, BOB, fact="They fell out."),
            claim(one, ADA, EVE, fact="They like each other."),
            claim(two, ADA, EVE),
        )
        await store.bind_embedder("model", 2)
        await put(store, ADA, BOB, EVE, one, two, *claims)
        relations = {each.target_id: each for each in await store.list_relations()}
        await put(store, vectors={each.id: vector(1, number) for number, each in enumerate(relations.values())})
        await store.forget(["two"])
        assert {each.fact for each in await store.list_relations()} == {"They met.", "They like each other."}
        hits = await store.search_by_embedding(ElementKind.RELATION, vector(1, 0), limit=5, view=view())
        assert list(store.relation_ids(hits.keys)) == [relations[EVE.id].id]

    # -- names that only the forgotten gave --------------------------------------------------------------------------

    async def test_a_target_whose_memories_are_forgotten_goes_when_its_merge_is_undone(self, store: GraphStore) -> None:
        one, two = Memory(id="one"), Memory(id="two")
        mentions = (mention(one, EVE, surface="Secret Eve"), mention(two, BOB, surface="Secret Bob"))
        await put(store, one, two, *mentions, named=(EVE, BOB))
        made = await store.merge(EVE.id, BOB.id)
        await store.forget(["two"])
        await store.undo_merge(made.id)
        assert [each.id for each in await store.list_entities()] == [EVE.id]
        await store.forget(["one"])
        assert await store.list_entities() == []

    async def test_an_undone_merge_leaves_no_name_to_its_target(self, store: GraphStore) -> None:
        one, two, three = Memory(id="one"), Memory(id="two"), Memory(id="three")
        named = (person("Secret"), person("Bob"), person("Robert"))
        mentions = tuple(mention(each, whom) for each, whom in zip((one, two, three), named, strict=True))
        await put(store, one, two, three, *mentions, named=named)
        secret, bob, robert = (each.id for each in named)
        first = await store.merge(secret, bob)
        await store.merge(bob, robert)
        await store.forget(["three"])
        await store.undo_merge(first.id)
        [left] = await store.get_entities([robert])
        assert (left.name, left.aliases) == ("Bob", ())
        await store.forget(["one"])
        assert await store.find_names(["secret"]) == []

    async def test_a_merged_entity_takes_its_name_along(self, store: GraphStore) -> None:
        one, two, three = Memory(id="one"), Memory(id="two"), Memory(id="three")
        eve = person("Secret Ada")
        await put(store, one, mention(one, ADA), named=(ADA,))
        await put(store, two, mention(two, eve), named=(eve,))
        await store.merge(eve.id, ADA.id)
        await put(store, three, mention(three, ADA, surface="Countess"))
        await store.forget(["one"])
        await store.forget(["two"])
        [left] = await store.list_entities()
        assert (left.name, left.aliases) == ("Countess", ())

    async def test_a_merged_entity_goes_with_the_memory_that_mentioned_it(self, store: GraphStore) -> None:
        """Also if that does not mention it any more when it is forgotten."""
        one, two, eve = Memory(id="one"), Memory(id="two"), person("Secret Eve")
        await put(store, one, two, mention(one, ADA), mention(two, eve), named=(ADA, eve))
        await store.merge(eve.id, ADA.id)
        await put(store, two, mention(two, ADA))
        await store.forget(["two"])
        assert [(each.name, each.aliases) for each in await store.list_entities()] == [("Ada", ())]
        assert await store.merges() == []

    async def test_a_merged_entity_of_a_claim_is_called_as_that_memory_does(self, store: GraphStore) -> None:
        """Also if the claim was written after the merge, which makes it one of an entity about itself."""
        one, two = Memory(id="one"), Memory(id="two")
        secret = mention(two, EVE, surface="Secret Eve"), mention(two, ADA, surface="Secret Ada")
        await put(store, two, *secret, named=(ADA, attrs.evolve(EVE, name="Secret Eve")))
        made = await store.merge(EVE.id, ADA.id)
        stated = mention(one, EVE, surface="Countess"), mention(one, ADA)
        await put(store, one, *stated, claim(one, EVE, ADA))
        await store.forget(["two"])
        assert {each.name: each.aliases for each in await store.list_entities()} == {
            "Ada": ("Countess",),
            "Countess": (),
        }
        assert await store.find_names(["secret"]) == []
        await store.undo_merge(made.id)
        assert {each.name: each.aliases for each in await store.list_entities()} == {"Ada": (), "Countess": ()}
        assert await store.list_mentions(entity_ids=[EVE.id]) == [stated[0]]
        assert len(await store.list_relations()) == 1

    async def test_history_alone_keeps_no_forgotten_name(self, store: GraphStore) -> None:
        one, two = Memory(id="one"), Memory(id="two")
        mentions = (mention(one, EVE), mention(one, BOB), mention(one, ADA))
        await put(store, one, *mentions, claim(one, EVE, BOB), named=(EVE, BOB, ADA))
        secret = mention(two, EVE, surface="Secret Eve"), mention(two, BOB, surface="Secret Bob")
        await put(store, two, *secret)
        await put(store, one, mention(one, ADA))  # retracts the relation
        report = await store.forget(["two"])
        assert (report.entities_removed, report.relations_retracted) == (2, 1)
        assert [each.name for each in await store.list_entities()] == ["Ada"]

    async def test_history_alone_keeps_no_merged_entity(self, store: GraphStore) -> None:
        one, two = Memory(id="one"), Memory(id="two")
        mentions = (mention(one, EVE), mention(one, ADA))
        await put(store, one, *mentions, claim(one, EVE, ADA), named=(EVE, ADA))
        await put(store, two, mention(two, EVE, surface="Secret Eve"))
        await store.merge(EVE.id, ADA.id)
        await put(store, one, mention(one, ADA))
        await store.forget(["two"])
        assert [(each.name, each.aliases) for each in await store.list_entities()] == [("Ada", ())]

    async def test_a_report_counts_what_was_removed(self, store: GraphStore) -> None:
        one, two = Memory(id="one"), Memory(id="two")
        await put(
            store,
            entities=(ADA, BOB, EVE),
            memories=(one, two),
            mentions=(mention(one, ADA), mention(two, ADA), mention(two, ADA, surface="A."), mention(two, EVE)),
            claims=(
                claim(one, ADA, BOB),
                claim(two, ADA, BOB),
                claim(two, ADA, EVE),
                claim(two, BOB, EVE, "likes"),
            ),
        )
        assert await store.forget(["two"]) == WriteReport(
            memories=1,
            relations=1,
            relations_retracted=2,
            entities_removed=1,
            mentions_removed=3,
            claims_removed=3,
        )
        assert await store.forget(["two"]) == WriteReport()
        assert await store.delete(entities=[ADA.id]) == WriteReport(
            relations_retracted=1, entities_removed=1, mentions_removed=1, claims_removed=1
        )


def _injection(number: int, *elements: ElementRef) -> Injection:
    return Injection(
        id=f"i{number}", session_id="s", principal="ada", created_at=day(number), tokens=7, elements=elements
    )
