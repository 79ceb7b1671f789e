"""Rare orders of events, and regressions, on both stores: beside the conformance suite, which is for every store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from psycopg_pool import AsyncConnectionPool

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.claims.naming import MAX_TRIGRAMS, folded_name
from graphsearch.model import (
    Batch,
    ElementKind,
    ElementRef,
    Entity,
    Memory,
    Outcome,
    RelationType,
    UndoReport,
    WriteReport,
)
from graphsearch.model.signatures import memory_signature
from graphsearch.reembedding import estimate_reembedding, reembed
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    HOSTILE_TEXTS,
    batch_of,
    claim,
    day,
    matching,
    mention,
    near,
    person,
    put,
    ref,
    relation,
    vector,
    view,
)
from graphsearch.testing.spec import FreshScope, StoreSpec
from graphsearch.testing.spec_claims import KNOWS, LIKES, PEOPLE, embed_facts, relations_with_vectors, waiting_facts
from graphsearch.testing.spec_finding import MEMORY
from graphsearch.testing.spec_forgetting import COUNTESS, ONE, TWO, surface_mention, two_people
from graphsearch.testing.spec_linking import entity_keys, mentioning
from graphsearch.testing.spec_moving import (
    KINDS,
    NEW,
    NOTED,
    OLD,
    THIRD,
    everything,
    full_portrait,
    made,
    moved,
    remade,
    seen,
    written,
)
from graphsearch.testing.strategies import (
    SURFACES,
    AnnotatedMemory,
    annotated_memories,
    answers,
    embed,
    few_examples,
    forget,
    texts,
    write_memories,
)
from graphsearch.text.bm25 import embedding_text
from graphsearch.text.trigrams import name_words, similarity, trigrams
from tests.stores.details.test_claims import write_facts
from tests.stores.details.test_moving import step
from tests.stores.details.test_naming import FIRST, KESTREL, SECOND, UNTYPED, nearest, shown, stored_entity, typed

names = st.one_of(st.sampled_from(SURFACES), texts(max_size=20))


def most_alike(entity: Entity, name: str) -> float:
    """The greatest similarity of a name to any of an entity's names."""
    return max(similarity(folded_name(each), folded_name(name)) for each in (entity.name, *entity.aliases))


async def merge_some(store: GraphStore, pairs: Sequence[tuple[int, int]]) -> None:
    """Merge entities by their place, where they can be merged."""
    for one, other in pairs:
        entities = [each for each in await store.list_entities(limit=100) if each.merged_into is None]
        if max(one, other) < len(entities) and one != other and entities[one].type == entities[other].type:
            await store.merge(entities[one].id, entities[other].id)


@attrs.define(eq=False)
class Life:
    """What happens to a scope, with vectors by one model."""

    store: GraphStore
    embedder: HashEmbedder

    async def remember(self, annotated: Iterable[AnnotatedMemory], *, facts: bool) -> None:
        """Write memories with vectors of what they write; also of facts."""
        await write_memories(self.store, annotated, embedder=self.embedder)
        if facts:
            waiting = await self.store.unembedded_facts()
            await put(self.store, vectors=made(self.embedder, *waiting))

    async def forget(self, memory_ids: Sequence[str]) -> None:
        """Forget memories, and embed what this gives another name."""
        await embed(self.store, (await self.store.forget(memory_ids)).reworded, self.embedder)

    async def merge(self, pair: tuple[int, int]) -> None:
        """Merge two entities, by their places."""
        await merge_some(self.store, [pair])


class MergingDetails(StoreSpec):
    """Merges, with what is written and forgotten meanwhile."""

    async def test_what_is_written_of_the_source_stays_with_the_target(self, store: GraphStore) -> None:
        await two_people(store)
        made = await store.merge(COUNTESS.id, ADA.id)
        late, later = Memory(id="late", occurred_at=day(5)), Memory(id="later", occurred_at=day(6))
        await store.write(
            Batch(
                entities=(attrs.evolve(COUNTESS, description="described again"),),
                memories=(late, later),
                mentions=(
                    surface_mention("late", COUNTESS, "Lady Lovelace"),  # which it states to be another than Ada
                    surface_mention("later", COUNTESS, "Lady L."),
                ),
                claims=(claim(late, COUNTESS, EVE), claim(late, COUNTESS, ADA, "same_as"), claim(late, BOB, BOB, "is")),
                relations=(relation(BOB, COUNTESS, "admires"),),
            )
        )
        assert {"Lady Lovelace", "Lady L."} <= {*(await store.get_entities([ADA.id]))[0].aliases}
        assert (await store.get_entities([COUNTESS.id]))[0].merged_into == ADA.id
        types = sorted(each.type for each in await store.list_relations())
        assert types == ["admires", "is", "knows", "knows", "knows", "likes"]
        report = await store.undo_merge(made.id)
        assert report == UndoReport(mentions=3, claims=3, relations=5, stayed=2, forgotten=0)
        assert [each.entity_id for each in await store.list_mentions(memory_ids=["later"])] == [ADA.id]
        assert [each.entity_id for each in await store.list_mentions(memory_ids=["late"])] == [COUNTESS.id]
        assert {(each.source_id, each.target_id) for each in await store.list_claims(memory_ids=["late"])} == {
            (ADA.id, EVE.id),
            (COUNTESS.id, ADA.id),
            (BOB.id, BOB.id),
        }
        (admires,) = await store.list_relations(type="admires")
        assert admires.target_id == ADA.id

    async def test_rewriting_an_old_memory_changes_nothing(self, store: GraphStore) -> None:
        await two_people(store)
        before = await answers(store)
        made = await store.merge(COUNTESS.id, ADA.id)
        merged = await answers(store)
        report = await put(
            store,
            memories=(ONE,),
            mentions=(mention(ONE, COUNTESS), surface_mention("one", COUNTESS, "C.")),
            claims=(claim(ONE, COUNTESS, BOB, fact="old"),),
            relations=(relation(COUNTESS, EVE, "likes"),),
        )
        assert (report.memories, report.relations) == (0, 0)
        assert await answers(store) == merged
        await store.undo_merge(made.id)
        assert await answers(store) == before

    async def test_relations_given_after_a_merge_may_lead_to_one_entity_or_to_two(self, store: GraphStore) -> None:
        loops = [relation(COUNTESS, ADA, f"is like {number}") for number in range(9)]
        others = [relation(BOB, EVE, "helps")]
        await put(store, ADA, COUNTESS, BOB, EVE)
        made = await store.merge(COUNTESS.id, ADA.id)
        await put(store, *loops, *others)
        assert {each.id for each in await store.list_relations()} == {each.id for each in others}
        await store.undo_merge(made.id)
        assert {each.id for each in await store.list_relations()} == {each.id for each in (*loops, *others)}

    async def test_what_is_forgotten_meanwhile_stays_forgotten(self, store: GraphStore) -> None:
        named = person("Lady")
        await put(
            store,
            entities=(ADA,),
            named=(named,),
            memories=(ONE, TWO),
            mentions=(mention(ONE, named), surface_mention("two", named, "L.")),
            claims=(claim(ONE, named, ADA, fact="secret"), claim(TWO, named, named, "is")),
        )
        made = await store.merge(named.id, ADA.id)
        await store.forget(["one"])
        assert (await store.get_entities([ADA.id]))[0].aliases == ("L.",)
        assert await store.find_names(["lady"]) == []
        report = await store.undo_merge(made.id)
        assert report == UndoReport(mentions=1, claims=1, relations=1, stayed=0, forgotten=2)
        assert [each.name for each in await store.get_entities([named.id])] == ["L."]

    async def test_a_relation_type_that_turns_functional_leaves_loops_out(self, store: GraphStore) -> None:
        await put(store, ADA, COUNTESS, BOB, ONE, claim(ONE, ADA, COUNTESS), claim(ONE, ADA, BOB))
        await store.merge(COUNTESS.id, ADA.id)
        await store.register_types([RelationType(name="knows", functional=True)])
        assert [each.target_id for each in await store.list_relations()] == [BOB.id]

    async def test_a_relation_that_a_merge_brought_back_goes_again(self, store: GraphStore, clock: FixedClock) -> None:
        undated = Memory(id="undated")
        await put(store, ADA, COUNTESS, BOB, undated, claim(undated, ADA, BOB))
        (known,) = await store.list_relations()
        clock.advance(days=1)
        other = Memory(id="other")
        await put(store, undated, other, claim(other, COUNTESS, BOB))
        retracted_at = clock.now()
        clock.advance(days=1)
        made = await store.merge(COUNTESS.id, ADA.id)
        assert [each.id for each in await store.list_relations()] == [known.id]
        await store.undo_merge(made.id)
        assert [each.source_id for each in await store.list_relations()] == [COUNTESS.id]
        assert (await store.get_relations([known.id]))[0].retracted_at == retracted_at

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


class TypingDetails(StoreSpec):
    """Names and types from mentions."""

    async def test_a_forgotten_name_is_replaced_by_the_earliest_that_is_left(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        memories = (Memory(id="m"), Memory(id="c", occurred_at=day(9)), Memory(id="b", occurred_at=day(3)))
        named = person("Priya Sharma")
        await put(
            store,
            named=(named,),
            memories=memories,
            mentions=(
                surface_mention("m", named, "Dr. Priya Sharma"),
                surface_mention("b", named, "PS", 7),
                surface_mention("b", named, "Priya", 3),
                surface_mention("c", named, "Ms Sharma"),
            ),
            vectors={named.id: vector(1, 0)},
        )
        assert (await store.asserted([named.id]))[0].named
        await store.forget(["c"])
        assert (await stored_entity(store, named)).name == "Priya Sharma"
        await store.forget(["m"])
        left = await stored_entity(store, named)
        assert (left.id, left.name, left.aliases) == (named.id, "Priya", ("PS",))
        assert await near(store, ElementKind.ENTITY, vector(1, 0)) == []
        assert await store.find_names(["priya sharma"]) == await store.find_name_words(["sharma"]) == []
        assert [each.alias for each in await store.find_names(["priya"])] == [False]

    async def test_a_vector_that_comes_with_the_type_stays(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        await put(store, UNTYPED, typed(UNTYPED), named=(KESTREL,))
        report = await put(store, FIRST, typed(FIRST, "project"), vectors={KESTREL.id: vector(1, 0)})
        assert report.reworded == ()
        assert await nearest(store) == [KESTREL.id]

    async def test_a_memory_that_becomes_earlier_gives_the_type(self, store: GraphStore) -> None:
        mentions = (typed(FIRST, "project"), typed(SECOND, "tool"))
        await put(store, FIRST, SECOND, *mentions, named=(KESTREL,))
        earlier = attrs.evolve(SECOND, occurred_at=None)
        await put(store, earlier, *mentions[1:])
        assert await shown(store) == "tool"

    @pytest.mark.parametrize(
        "batch",
        [
            batch_of(KESTREL),
            batch_of(attrs.evolve(KESTREL, type="tool")),
            batch_of(named=(attrs.evolve(KESTREL, type="tool"),)),
        ],
    )
    async def test_a_type_that_was_given_stays(self, store: GraphStore, batch: Batch) -> None:
        (entity,) = (*batch.entities, *batch.named)
        stated = batch_of(FIRST, typed(FIRST, "project"))
        await store.write(attrs.evolve(stated, entities=batch.entities, named=batch.named))
        assert await shown(store) == entity.type
        await store.write(attrs.evolve(stated, named=(KESTREL,)))
        assert await shown(store) == "project"
        await store.write(batch)
        assert await shown(store) == entity.type
        assert (await store.asserted([KESTREL.id]))[0].entity.type == entity.type

    async def test_naming_it_again_keeps_the_type_of_mentions(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        batch = batch_of(FIRST, typed(FIRST, "project"), named=(KESTREL,))
        await store.write(batch)
        await put(store, vectors={KESTREL.id: vector(1, 0)})
        assert (await store.write(batch)).entities == (await put(store, named=(KESTREL,))).entities == 0
        described = attrs.evolve(KESTREL, type="unknown", description="A bird.", labels=("bird",))
        report = await put(store, named=(described,))
        assert (report.entities, report.reworded) == (1, ())
        assert await shown(store) == "project"
        assert await nearest(store) == [KESTREL.id]
        (now,) = await store.get_entities([KESTREL.id])
        assert (now.description, now.labels) == ("A bird.", ("bird",))
        await store.forget([FIRST.id])
        assert await store.get_entities([KESTREL.id]) == []

    async def test_what_turns_out_to_be_code_is_called_by_its_own_name(self, store: GraphStore) -> None:
        connect = Entity(type="unknown", name="ssl.connect")
        mentions = (typed(UNTYPED, entity=connect, surface="connect"), typed(UNTYPED, entity=connect))
        await put(store, UNTYPED, *mentions, named=(connect,))
        assert (await store.get_entities([connect.id]))[0].aliases == ("connect",)
        await put(store, FIRST, typed(FIRST, "function", connect))
        assert (await store.get_entities([connect.id]))[0].aliases == ()
        assert await store.find_names(["connect"]) == []
        await store.forget([FIRST.id])
        assert (await store.get_entities([connect.id]))[0].aliases == ("connect",)

    async def test_mentions_do_not_change_a_given_type(self, store: GraphStore) -> None:
        known, concept = Entity(type="project", name="Falcon"), Entity(type="concept", name="Merlin")
        stated = (typed(UNTYPED, "tool", known), typed(UNTYPED, "tool", concept), typed(FIRST, "project"))
        await put(store, known, concept, UNTYPED, FIRST, *stated, named=(KESTREL,))
        made = await store.merge(known.id, KESTREL.id)
        assert await shown(store) == "project"
        await store.undo_merge(made.id)
        await put(store, FIRST, typed(FIRST))
        await store.merge(concept.id, KESTREL.id)
        assert await shown(store) == "concept"

    async def test_deleting_a_merged_entity_leaves_the_type_it_gave(self, store: GraphStore) -> None:
        other = Entity(type="concept", name="Falcon")
        mentions = (typed(UNTYPED), typed(FIRST, "project", other), typed(SECOND, "project"))
        await put(store, UNTYPED, FIRST, SECOND, *mentions, named=(KESTREL, other))
        await store.merge(other.id, KESTREL.id)
        await store.delete(entities=[other.id])
        assert (await store.forget([SECOND.id])).reworded == ()
        assert await shown(store) == "project"

    @few_examples
    @given(st.lists(st.lists(names, min_size=1, max_size=3), min_size=1, max_size=5), st.lists(names, max_size=3))
    async def test_similarity_is_that_of_the_most_similar_name(
        self, fresh: FreshScope, drawn: list[list[str]], asked: list[str]
    ) -> None:
        assume(
            all(len(trigrams(name)) <= MAX_TRIGRAMS for name in (*asked, *(each for some in drawn for each in some)))
        )
        store = fresh()
        entities = {each.id: each for each in (person(name, aliases=tuple(aliases)) for name, *aliases in drawn)}
        await put(store, *entities.values())
        for threshold in (0.6, 0.85):
            found = await store.similar_names(asked, threshold=threshold)
            for name in asked:
                expected = {
                    key: score for key, each in entities.items() if (score := most_alike(each, name)) >= threshold
                }
                assert {each.entity_id: each.similarity for each in found[name]} == expected
                assert all(similarity(each.name, folded_name(name)) == each.similarity for each in found[name])
        words = sorted({word for name in asked for word in name_words(name)})
        found_words = {(each.name, each.entity_id, each.alias) for each in await store.find_name_words(words)}
        assert found_words == {
            (word, key, word not in name_words(each.name))
            for key, each in entities.items()
            for word in words
            if any(word in name_words(name) for name in (each.name, *each.aliases))
        }


class FactsDetails(StoreSpec):
    """Facts that change, and claims by their groups."""

    async def test_a_claim_takes_over_a_given_relation_of_the_same_id(self, store: GraphStore) -> None:
        given = relation(
            ADA,
            BOB,
            valid_from=day(1),
            confidence=0.3,
            labels=("secret",),
            attributes={"owner": "eve"},
            created_at=day(0),
        )
        await put(store, ADA, BOB, given)
        memory = Memory(id="m", occurred_at=day(1))
        await put(store, memory, claim(memory, ADA, BOB, fact="said"))
        (taken,) = await store.list_relations()
        assert (taken.id, taken.confidence, taken.fact, taken.evidence) == (given.id, 0.8, "said", ("m",))
        assert (taken.created_at, taken.labels, taken.attributes) == (day(0), ("secret",), {"owner": "eve"})
        assert await put(store, given) == WriteReport()
        assert await store.list_relations() == [taken]
        await put(store, memory)
        assert await store.list_relations() == []

    @pytest.mark.parametrize("embedded", [False, True])
    async def test_what_has_no_fact_or_is_retracted_waits_for_nothing(self, store: GraphStore, embedded: bool) -> None:
        await store.bind_embedder("model", 2)
        await put(store, *PEOPLE, KNOWS)
        if embedded:  # unembedded facts are found in another way as soon as one has a vector
            await embed_facts(store, KNOWS)
        gone = attrs.evolve(LIKES, created_at=day(1), retracted_at=day(2))
        await put(store, relation(EVE, ADA), gone)
        assert await waiting_facts(store) == ([] if embedded else [KNOWS.id])
        (met,) = [each for each in await write_facts(store, 1, "Ada met Bob.") if each.fact == "Ada met Bob."]
        assert met.id in await waiting_facts(store)
        await put(store, Memory(id="m1", text="Never mind.", occurred_at=day(1)))
        assert met.id not in await waiting_facts(store)
        await write_facts(store, 1, "Ada met Bob.")
        assert met.id in await waiting_facts(store)
        await store.forget(["m1"])
        await store.delete(relations=[KNOWS.id])
        assert await waiting_facts(store) == []

    async def test_a_fact_that_is_given_and_claimed_at_once_is_the_claimed_one(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        (met,) = await write_facts(store, 1, "They met.")
        await embed_facts(store, met)
        memory = Memory(id="m1", text="They met.", occurred_at=day(1))
        given = attrs.evolve(met, fact="Nobody says so.")
        claimed = claim(memory, ADA, BOB, "type_0", fact="They met.", confidence=0.9)
        await put(store, memory, claimed, given)
        assert [each.fact for each in await store.list_relations()] == ["They met."]
        assert (await relations_with_vectors(store), await waiting_facts(store)) == ({met.id}, [])


class FindingDetails(StoreSpec):
    """Views, freshness and candidates."""

    async def test_a_narrow_search_gives_the_first_of_a_wide_one(self, store: GraphStore, clock: FixedClock) -> None:
        words = ("common", "usual", "common usual", "usual usual common")
        memories = [Memory(id=f"m{number:04}", text=f"{words[number % 4]} filler") for number in range(2_700)]
        for number in range(40):  # of the rare words some have one, some two; common ones decide among them
            rare = " ".join(("rare", "scarce")[: 1 + number % 3 % 2])
            text = f"{rare} {words[number % 4]} {'filler ' * (number % 5)}"
            memories[number] = Memory(id=f"m{number:04}", text=text, occurred_at=day(9 if number % 7 else 1))
        await put(store, *memories)
        asked = "rare scarce common usual"
        for when in (day(5), day(10)):
            seen = {"as_of": when, "known_at": clock.now()}
            wide = await matching(store, MEMORY, asked, limit=50, **seen)
            assert len(wide) == (6 if when == day(5) else 40)
            for limit in (1, 5, 39):
                assert await matching(store, MEMORY, asked, limit=limit, **seen) == wide[:limit]

    async def test_types_asked_for_are_not_crowded_out_by_others(self, store: GraphStore) -> None:
        others = [person(f"p{number}") for number in range(30)]
        crowd = [relation(ADA, each, "knows", confidence=0.99) for each in others]
        rare = relation(ADA, BOB, "leads", confidence=0.6)
        await put(store, ADA, BOB, *others, *crowd, rare)
        async with store.snapshot():
            ada = await store.locate([ADA.id], view=view())
            found = await store.expand(ada.keys, fan_out=2, view=view(only_types={"leads"}))
            assert store.relation_ids(found.relations) == [rare.id]
            assert np.isclose(found.confidence, 0.6).all()
            everything = view(only_types={"leads"}, min_edge_confidence=0.7)
            assert await store.left_out(ada.keys, view=everything) == {"low_confidence": 1, "other_type": 30}

    async def test_a_memory_that_is_written_again_is_found_as_it_is_now(
        self, store: GraphStore, clock: FixedClock
    ) -> None:
        mentions = [mention(Memory(id="m"), ADA)]
        for memory in (Memory(id="m", occurred_at=day(9)), Memory(id="m", occurred_at=day(3), labels=("private",))):
            await put(store, ADA, memory, *mentions)
            for when in (day(2), day(5), day(10)):
                found = await mentioning(store, ADA, seen=view(when, clock.now()))
                assert len(found) == (memory.occurred_at is not None and memory.occurred_at <= when)
            async with store.snapshot():
                keys = await entity_keys(store, ADA, seen=view())
                (code,) = (
                    await store.mentioned(ElementKind.ENTITY, keys, limit=9, view=view())
                ).far_signatures.tolist()
                assert await store.signatures([code]) == {code: memory_signature(memory)}


class ReembeddingDetails(StoreSpec):
    """A change of the embedding model, with anything meanwhile."""

    async def test_pages_are_in_order(self, store: GraphStore) -> None:
        await written(store)
        await store.begin_reembedding(NEW.name, NEW.dimensions)
        first, last = sorted((ADA, BOB), key=lambda each: each.id)
        page = await store.outdated_vectors(ElementKind.ENTITY, NEW.name)
        assert [each.id for each in page] == [first.id, last.id]
        later = await store.outdated_vectors(ElementKind.ENTITY, NEW.name, after=first.id, limit=5)
        assert list(later) == list(await store.get_entities([last.id]))
        assert await store.outdated_vectors(ElementKind.ENTITY, NEW.name, limit=0) == []
        await step(store, ElementKind.ENTITY, 2)
        assert await store.outdated_vectors(ElementKind.ENTITY, NEW.name) == []
        assert len(await store.outdated_vectors(ElementKind.ENTITY, THIRD.name)) == 2

    async def test_an_estimate_counts_what_is_left(self, store: GraphStore) -> None:
        await written(store)
        found = await estimate_reembedding(store, NEW)
        assert (found.embedder, found.dimensions, found.present, found.unfinished) == ("new", 24, "old", None)
        assert found.texts == {ElementKind.ENTITY: 2, ElementKind.MEMORY: 1, ElementKind.RELATION: 1}
        assert found.characters == {
            ElementKind.ENTITY: sum(len(embedding_text(each)) for each in (ADA, BOB)),
            ElementKind.MEMORY: len(NOTED.text),
            ElementKind.RELATION: len(KNOWS.fact),
        }
        assert found.seconds is not None
        assert found.seconds > 0
        await store.begin_reembedding(NEW.name, NEW.dimensions)
        await step(store, ElementKind.ENTITY, 1)
        later, other = [await estimate_reembedding(store, each, sample=0) for each in (NEW, THIRD)]
        assert (later.texts[ElementKind.ENTITY], later.seconds) == (1, None)
        assert later.unfinished == other.unfinished == await store.reembedding()
        assert other.texts[ElementKind.ENTITY] == 2

    @settings(few_examples, max_examples=4)
    @given(
        memories=st.lists(annotated_memories("m", max_size=3), min_size=1, max_size=4),
        happenings=st.lists(
            st.one_of(
                st.tuples(st.just("step"), st.sampled_from(KINDS), st.integers(1, 3)),
                st.tuples(st.just("remember"), st.integers(0, 3), st.booleans()),
                st.tuples(st.just("forget"), st.sampled_from(["m0", "m1", "m2"]), st.none()),
                st.tuples(st.just("merge"), st.integers(0, 3), st.integers(0, 3)),
                st.tuples(st.just("switch"), st.integers(0, 2), st.none()),
            ),
            max_size=12,
        ),
    )
    async def test_whatever_happens_meanwhile_the_scope_is_as_if_written_with_the_new_model(
        self,
        fresh: FreshScope,
        memories: Sequence[Sequence[AnnotatedMemory]],
        happenings: Sequence[tuple[str, Any, Any]],
    ) -> None:
        changed, whole = Life(fresh(), OLD), Life(fresh(), NEW)
        for life in (changed, whole):
            await life.store.bind_embedder(life.embedder.name, life.embedder.dimensions)
            await life.remember(memories[0], facts=True)
        await changed.store.begin_reembedding(NEW.name, NEW.dimensions)
        for name, one, other in happenings:
            if name == "step" and changed.embedder is OLD:
                await step(changed.store, one, other)
            if name == "switch" and changed.embedder is OLD:
                left = await changed.store.switch_embedder(NEW.name, remade, most=one)
                changed.embedder = OLD if left else NEW
            for life in (changed, whole):
                if name == "remember":
                    await life.remember(memories[one % len(memories)], facts=other)
                elif name == "forget":
                    await life.forget([one])
                elif name == "merge":
                    await life.merge((one, other))
            await self.check_shadows(changed.store)
        await reembed(changed.store, NEW)
        assert await seen(changed.store) == await seen(whole.store)

    async def check_shadows(self, store: GraphStore) -> None:
        """At most as many new vectors as old ones: those of what is forgotten are gone."""
        if (state := await store.reembedding()) is not None:
            assert all(state.done[kind] <= state.total[kind] for kind in KINDS)

    @settings(few_examples, max_examples=3)
    @given(
        first=annotated_memories("first"),
        second=annotated_memories("second", max_size=2),
        third=annotated_memories("third", max_size=2),
        merges=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=3),
        undone=st.booleans(),
        dropped=st.integers(0, 2),
    )
    async def test_whatever_happened_a_moved_scope_goes_on_as_the_other(
        self,
        fresh: FreshScope,
        first: Sequence[AnnotatedMemory],
        second: Sequence[AnnotatedMemory],
        third: Sequence[AnnotatedMemory],
        merges: Sequence[tuple[int, int]],
        undone: bool,
        dropped: int,
    ) -> None:
        store = fresh()
        await write_memories(store, first)
        await merge_some(store, merges)
        await write_memories(store, second)
        await forget(store, first[:dropped])
        other = await moved(store, fresh)
        assert await everything(other) == await everything(store)
        for each in (store, other):
            await write_memories(each, third)
            if undone:
                for made in [merge for merge in await each.merges() if merge.undone_at is None][-1:]:
                    await embed(each, (await each.undo_merge(made.id)).reworded)
            await forget(each, second)
        assert await full_portrait(other) == await full_portrait(store)
        assert await everything(other) == await everything(store)


class DocumentsDetails(StoreSpec):
    """Counts, long and hostile texts."""

    async def test_documents_are_counted_by_their_terms(self, store: GraphStore) -> None:
        texts = ("A copper kettle.", "The kettles are copper, and old.", "An old anchor.", "…")
        await put(store, *[Memory(id=str(number), text=text) for number, text in enumerate(texts)])
        asked = ("", "kettle", "copper kettle", "old kettle", "old old", "anchor kettle", "zinc old")
        groups = [store.analyser.terms(each) for each in asked]
        many = tuple(Memory(id=f"k{number}", text="another kettle") for number in range(1001))
        for counts in ([3, 2, 2, 1, 2, 0, 0], [1004, 1003, 2, 1, 2, 0, 0]):
            assert list(await store.document_frequencies(ElementKind.MEMORY, groups)) == counts
            assert list(await store.document_frequencies(ElementKind.ENTITY, groups)) == [0] * len(groups)
            await put(store, *many)
        await store.forget(["1"])
        assert list(await store.document_frequencies(ElementKind.MEMORY, groups[2:4])) == [1, 0]
        assert list(await store.document_frequencies(ElementKind.MEMORY, [])) == []

    async def test_a_long_document_is_found_by_its_words(self, store: GraphStore) -> None:
        text = " ".join(f"w{number}" for number in range(12_000))
        await put(store, Memory(id="long", text=text), Memory(id="short", text="w1"))
        for asked, expected in (("w11999", ["long"]), ("w1", ["short", "long"])):
            async with store.snapshot():
                assert await matching(store, ElementKind.MEMORY, asked) == expected

    async def test_hostile_sessions_and_types_are_kept_apart(self, store: GraphStore) -> None:
        await put(store, ADA, Memory(id="m"))
        sessions = HOSTILE_TEXTS[:14]
        for session in sessions:
            await store.apply_outcome(session, Outcome.ACCEPTED, [ref(ADA), ElementRef(ElementKind.MEMORY, "m")])
        assert [each.session_id for each in await store.outcomes([ref(ADA)])] == list(sessions)
        bob = person("Bob")
        await put(store, bob, relation(ADA, bob, "日本語"))
        await store.register_types([RelationType(name="日本語", prior=0.5)])
        assert (await store.relation_types())["日本語"].prior == 0.5
        assert [each.type for each in await store.list_relations(type="日本語")] == ["日本語"]

    async def test_long_ids_are_kept_apart(self, store: GraphStore) -> None:
        ids = ["".join(chr(33 + (number * 7 + seed) % 90) for number in range(800)) + str(seed) for seed in range(3)]
        await put(store, *(Memory(id=each, text="same words") for each in ids))
        assert [each.id for each in await store.list_memories()] == sorted(ids)
        assert (await store.forget(ids[:1])).memories == 1
        assert await store.get_memories(ids[:1]) == []


class Details(MergingDetails, TypingDetails, FactsDetails, FindingDetails, ReembeddingDetails, DocumentsDetails):
    """All of them."""


class TestInMemory(Details):
    @pytest.fixture
    def unscoped(self, clock: FixedClock) -> InMemoryGraphStore:
        return InMemoryGraphStore(clock=clock)


class TestPostgres(Details):
    @pytest.fixture
    def unscoped(self, clock: FixedClock, shared_pool: AsyncConnectionPool) -> PostgresGraphStore:
        return PostgresGraphStore(shared_pool, clock=clock, exact=True)
