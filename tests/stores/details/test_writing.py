"""What goes with a write, and what is counted. Beside the conformance suite."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
import pytest

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.errors import EmbeddingModelError, InvalidInputError
from graphsearch.model import (
    KNOWN_RELATION_TYPES,
    MAX_WORD_WEIGHT,
    ElementKind,
    Entity,
    Memory,
    MemoryLink,
    Outcome,
    RelationType,
    Span,
)
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import FixedClock
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
    vector,
    view,
)
from graphsearch.testing.spec import StoreSpec
from graphsearch.testing.spec_writing import LAB, PEOPLE
from tests.stores.on_both import InMemory, InPostgres

Call = Callable[[GraphStore], Awaitable[object]]


KNOWN, ABSENT = Memory(id="m", text="Ada knows Bob."), UUID(int=1)


NO_DIRECTION = ((np.nan, 1.0), (np.inf, 1.0), (1e6, 1.0), (0.0, 0.0), ())


NO_DIMENSIONS: tuple[Any, ...] = (0, -1, 3.5, 3.0, True, 16_001, None, "3")


NO_THRESHOLDS = (0.59, 1.1, float("nan"))


NO_WORDS: Mapping[str, tuple[Entity, Mapping[str, float]]] = {
    "no entity": (EVE, {"latch": 1.0}),
    "must not be empty": (ADA, {"": 1.0}),
    r"in \[0": (ADA, {"latch": -1.0}),
    "must be in": (ADA, {"latch": 2 * MAX_WORD_WEIGHT}),
}


WRONG_MODEL: Mapping[str, Call] = {
    "a vector of another length": lambda store: put(store, EVE, vectors={EVE.id: vector(1, 0, 0)}),
    "a question of another length": lambda store: store.search_by_embedding(
        ElementKind.ENTITY, vector(1, 0, 0), limit=1, view=view()
    ),
    "another model": lambda store: store.bind_embedder("other", 2),
    "another length of the model": lambda store: store.bind_embedder("one", 3),
}


WRONG_INPUT: Sequence[tuple[str, Call]] = (
    *(
        (str(EVE.id), lambda store, each=each: put(store, EVE, vectors={EVE.id: vector(*each)}))
        for each in NO_DIRECTION
    ),
    *(("whole number", lambda store, each=each: store.bind_embedder("model", each)) for each in NO_DIMENSIONS),
    *(("threshold", lambda store, each=each: store.similar_names(["a"], threshold=each)) for each in NO_THRESHOLDS),
    *((why, lambda store, of=of: put(store, ADA, words={of[0].id: of[1]})) for why, of in NO_WORDS.items()),
    ("'m'", lambda store: put(store, mention(KNOWN, ADA))),
    ("limit", lambda store: store.find_name_words(["a"], limit=-1)),
    ("limit", lambda store: store.unembedded_facts(limit=-1)),
    ("limit", lambda store: store.surface_forms([ADA.id], limit=-1)),
    ("limit", lambda store: store.first_written([ADA.id], limit=-1)),
    ("limit", lambda store: store.edges(limit=-1, view=view())),
    ("limit", lambda store: store.outdated_vectors(ElementKind.ENTITY, "other", limit=-1)),
    (
        "no memory 'absent'; no memory 'missing'",
        lambda store: store.link_memories([MemoryLink(from_id="m", to_id=each) for each in ("n", "absent", "missing")]),
    ),
    (
        f"no entity {ABSENT}; entity {BOB.id} is paired with itself",
        lambda store: store.mark_distinct([(ADA.id, BOB.id), (ADA.id, ABSENT), (BOB.id, BOB.id)]),
    ),
)


class PruningDetails(StoreSpec):
    """What goes with a write, and what is counted."""

    async def test_what_nothing_names_any_more_goes_with_the_same_write(self, store: GraphStore) -> None:
        lonely, merged, into = person("Lonely"), person("Merged"), person("Into")
        everybody, memory, other = (ADA, BOB, EVE, lonely, merged, into), Memory(id="m"), Memory(id="o")
        mentions = (*(mention(memory, each) for each in everybody), mention(other, BOB))
        claims = claim(memory, ADA, BOB), claim(other, EVE, BOB)
        await put(store, ADA, BOB, EVE, merged, into, memory, other, *mentions, *claims, named=(lonely,))
        await store.merge(merged.id, into.id)
        report = await put(store, memory, prune=[*(each.id for each in everybody), person("Nobody").id])
        assert (report.entities_removed, report.relations_retracted) == (2, 1)
        left = await store.list_entities()
        assert {each.name for each in left} == {"Bob", "Eve", "Merged", "Into"}  # named, related, merged
        assert [(each.source_id, each.retracted_at) for each in await store.list_relations()] == [(EVE.id, None)]
        assert await store.find_names(["Ada", "Lonely"]) == []
        with pytest.raises(InvalidInputError):
            batch_of(prune=("Ada",))

    async def test_settling_changes_no_answer(self, store: GraphStore) -> None:
        await put(store, ADA, BOB, relation(ADA, BOB, "knows"))
        before = await portrait(store)
        assert await store.settle() >= 0
        assert await portrait(store) == before
        assert await store.settle() == 0

    async def test_mentions_are_listed_by_memory_entity_and_span(self, store: GraphStore) -> None:
        one, two = sorted(PEOPLE[:2], key=lambda each: each.id)
        first, second = Memory(id="a"), Memory(id="b")
        mentions = (
            mention(first, one, span=Span(start=2, end=4)),
            mention(first, one, span=Span(start=9, end=11)),
            mention(first, two, span=Span(start=0, end=1)),
            mention(second, one),
        )
        await put(store, one, two, first, second, *mentions[::-1])
        assert await store.list_mentions(memory_ids=["b", "a"]) == list(mentions)
        assert await store.list_mentions(entity_ids=[one.id]) == [mentions[0], mentions[1], mentions[3]]
        assert await store.list_mentions(memory_ids=["b"], entity_ids=[two.id]) == [mentions[2], mentions[3]]
        assert await store.list_mentions() == []

    async def test_claims_are_listed_in_the_order_of_the_fold(self, store: GraphStore) -> None:
        one, two = PEOPLE[:2]
        times = {"late": day(9), "early": day(1), "undated": None, "b": day(5), "a": day(5)}
        memories = {key: Memory(id=key, occurred_at=time) for key, time in times.items()}
        claims = {key: claim(memory, one, two) for key, memory in memories.items()}
        other = claim("late", two, one)
        await put(store, one, two, *memories.values(), *claims.values(), other)
        in_order = [claims[key] for key in ("undated", "early", "a", "b", "late")]
        (folded,) = [each for each in await store.list_relations() if each.source_id == one.id]
        assert await store.list_claims(relation_ids=[folded.id]) == in_order
        assert await store.list_claims(memory_ids=["late", "a"], relation_ids=[ABSENT]) in (
            [claims["a"], claims["late"], other],
            [claims["a"], other, claims["late"]],
        )
        assert await store.list_claims() == []

    async def test_documents_are_counted_that_have_words(self, store: GraphStore) -> None:
        await put(store, ADA, BOB, LAB, Entity(type="concept", name="?!"))
        await put(store, Memory(id="m", text="words"), Memory(id="n", text="…"))
        for entities, memories in ((3, 1), (2, 1)):
            assert await store.document_count(ElementKind.ENTITY) == entities
            assert await store.document_count(ElementKind.MEMORY) == memories
            await store.delete(entities=[ADA.id])

    async def test_creation_is_as_given_else_now(self, store: GraphStore, clock: FixedClock) -> None:
        early = person("Early", created_at=day(1))
        await put(store, ADA, early, Memory(id="m"), relation(ADA, early))
        now = clock.now()
        assert [each.created_at for each in await store.get_entities([ADA.id, early.id])] == [now, day(1)]
        assert [each.created_at for each in await store.get_memories(["m"])] == [now]
        assert [each.created_at for each in await store.list_relations()] == [now]

    async def test_every_dangling_id_is_named_and_nothing_is_written(self, store: GraphStore) -> None:
        await put(store, ADA)
        memory, stranger, ghost = Memory(id="m"), person("Stranger"), person("Ghost")
        with pytest.raises(InvalidInputError) as refused:
            await put(
                store,
                entities=(BOB,),
                memories=(memory,),
                relations=(relation(ADA, EVE), relation(BOB, ADA, evidence=("no-memory",))),
                mentions=(mention(memory, stranger),),
                claims=(claim(memory, ADA, ghost), claim("elsewhere", ADA, BOB)),
                vectors={person("Unwritten").id: vector(1, 0)},
            )
        absent = [str(EVE.id), str(stranger.id), str(ghost.id), "no-memory", "elsewhere", str(person("Unwritten").id)]
        assert [name for name in absent if name not in str(refused.value)] == []
        assert [each.name for each in await store.list_entities()] == ["Ada"]
        assert await store.list_memories() == []
        assert await store.list_relations() == []

    async def test_a_memory_written_again_has_the_mentions_and_claims_of_that_batch(self, store: GraphStore) -> None:
        memory = Memory(id="m")
        mentions = mention(memory, ADA), mention(memory, ADA)
        claims = claim(memory, ADA, BOB), claim(memory, ADA, BOB)
        first = batch_of(ADA, BOB, EVE, memory, *mentions, *claims)
        await store.write(first)
        assert await store.list_mentions(memory_ids=["m"]) == [mention(memory, ADA)]
        assert await store.list_claims(memory_ids=["m"]) == [claim(memory, ADA, BOB)]
        await put(store, memory, mention(memory, EVE), claim(memory, EVE, BOB))
        assert await store.list_mentions(memory_ids=["m"]) == [mention(memory, EVE)]
        assert await store.list_mentions(entity_ids=[ADA.id]) == []
        assert await store.list_claims(memory_ids=["m"]) == [claim(memory, EVE, BOB)]
        await put(store, memory)
        assert await store.list_mentions(memory_ids=["m"]) == []
        assert await store.list_claims(memory_ids=["m"]) == []

    async def test_a_relation_is_deleted_with_its_claims(self, store: GraphStore) -> None:
        memory = Memory(id="m")
        await put(store, ADA, BOB, EVE, memory, claim(memory, ADA, BOB), claim(memory, ADA, EVE))
        gone = next(each for each in await store.list_relations() if each.target_id == BOB.id)
        await store.delete(relations=[gone.id, ADA.id])
        assert await store.get_relations([gone.id]) == []
        assert await store.list_claims(memory_ids=["m"]) == [claim(memory, ADA, EVE)]
        await put(store, memory, claim(memory, ADA, EVE, confidence=0.9))
        assert [each.target_id for each in await store.list_relations()] == [EVE.id]

    async def test_an_element_written_anew_after_deletion_starts_anew(self, store: GraphStore) -> None:
        await put(store, ADA, BOB)
        await store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA)])
        await store.delete(entities=[ADA.id])
        assert await store.outcomes([ref(ADA)]) == []
        await put(store, ADA)
        assert [each.feedback_weight for each in await store.get_entities([ADA.id])] == [0.5]
        assert await store.outcomes([ref(ADA)]) == []

    async def test_what_batches_count_adds_up_if_they_are_written(self, store: GraphStore) -> None:
        await put(store, counters={"seen": 2, "made": 1})
        await put(store, counters={"seen": 3})
        with pytest.raises(InvalidInputError):
            await put(store, relation(ADA, BOB), counters={"seen": 5})  # Ada does not exist
        assert (await store.statistics()).counters == {"made": 1, "seen": 5}

    async def test_what_is_refused_changes_nothing(self, store: GraphStore) -> None:
        await store.bind_embedder("one", 2)
        await put(store, ADA, BOB, KNOWN, Memory(id="n"), relation(ADA, BOB), vectors={ADA.id: vector(1, 0)})
        before = await portrait(store)
        for call in WRONG_MODEL.values():
            with pytest.raises(EmbeddingModelError):
                await call(store)
        for why, call in WRONG_INPUT:
            with pytest.raises(InvalidInputError, match=why):
                await call(store)
        assert await portrait(store) == before

    async def test_vectors_need_a_model_to_be_stated(self, store: GraphStore) -> None:
        with pytest.raises(EmbeddingModelError, match="bind_embedder"):
            await put(store, ADA, vectors={ADA.id: vector(1, 0)})

    async def test_a_model_is_bound_once(self, store: GraphStore) -> None:
        await put(store)
        assert await store.embedder_name() is None
        await store.bind_embedder("one", 2)
        await store.bind_embedder("one", 2)
        assert await store.embedder_name() == "one"

    async def test_types_are_registered_and_replaced_next_to_the_known_ones(self, store: GraphStore) -> None:
        known = {"half_life_days": 3, "hop_scores": (1.0, 0.2), "causal": True, "skip": True, "state": True}
        changed = RelationType(name="knows_well", prior=0.4, **known)  # type: ignore[arg-type]
        met = RelationType(name="met_with", prior=0.9)
        await store.register_types([RelationType(name="Knows Well", prior=0.3), met])
        await store.register_types([changed])
        types = await store.relation_types()
        expected = {"knows_well": changed, "met_with": met, "works_at": KNOWN_RELATION_TYPES["works_at"]}
        assert {name: types[name] for name in expected} == expected

    async def test_elements_come_in_the_order_asked_for_and_absent_ids_are_left_out(self, store: GraphStore) -> None:
        one, two, three = PEOPLE[:3]
        links = (relation(one, two), relation(two, three))
        memories = (Memory(id="b"), Memory(id="a"))
        await put(store, *PEOPLE[:3], *links, *memories)
        assert [each.id for each in await store.get_entities([three.id, ABSENT, one.id])] == [three.id, one.id]
        assert [each.id for each in await store.get_relations([links[1].id, ABSENT, links[0].id])] == [
            links[1].id,
            links[0].id,
        ]
        assert [each.id for each in await store.get_memories(["b", "absent", "a"])] == ["b", "a"]
        assert await store.get_entities([]) == []

    async def test_entities_are_listed_page_by_page_in_order_of_id(self, store: GraphStore) -> None:
        tool = person("Hammer")
        await put(store, *PEOPLE, tool)
        ids = sorted(each.id for each in (*PEOPLE, tool))
        pages, after = [], None
        while page := await store.list_entities(after=after, limit=3):
            pages.append([each.id for each in page])
            after = page[-1].id
        assert pages == [ids[:3], ids[3:6], ids[6:]]
        assert await store.list_entities(limit=0) == []


class TestInMemory(InMemory, PruningDetails):
    pass


class TestPostgres(InPostgres, PruningDetails):
    pass
