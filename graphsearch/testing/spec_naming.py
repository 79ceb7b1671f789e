"""Names: aliases and surfaces of mentions, approximate names, and types, explicit or by mentions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from uuid import UUID

import attrs
from hypothesis import given

from graphsearch.model import ElementKind, Entity, Memory, Mention, SimilarName, Span
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.samples import day, ids_of, matching, person, put, vector, view
from graphsearch.testing.spec import FreshScope, StoreSpec
from graphsearch.testing.strategies import (
    AnnotatedMemory,
    annotated_memories,
    answers,
    few_examples,
    forget,
    write_memories,
)
from graphsearch.text.trigrams import similarity

ADA, BOB = person("Ada Lovelace"), person("Bob")


def surface_mention(memory: Memory | str, entity: Entity, surface: str, start: int = 0) -> Mention:
    """A mention with a surface of its own."""
    key = memory if isinstance(memory, str) else memory.id
    return Mention(memory_id=key, entity_id=entity.id, surface=surface, span=Span(start=start, end=start + 1))


async def stored_entity(store: GraphStore, entity: Entity) -> Entity:
    """An entity as it is stored."""
    (found,) = await store.get_entities([entity.id])
    return found


class AliasesSpec(StoreSpec):
    """`Batch.named`, `given`, `surface_forms`, and the aliases after `write`, `forget` and `delete`."""

    async def test_surfaces_become_aliases_behind_those_given(self, store: GraphStore) -> None:
        entity = attrs.evolve(ADA, aliases=("Zuse's heroine", "AAL"))
        surfaces = ("the Countess", "ada  lovelace", "aal", "Ada", "ADA", "The  Countess")
        await put(
            store,
            entities=(entity,),
            memories=(Memory(id="m"),),
            mentions=tuple(surface_mention("m", ADA, surface, at) for at, surface in enumerate(surfaces)),
        )
        shown = ("Zuse's heroine", "AAL", "ADA", "The  Countess")
        assert (await stored_entity(store, ADA)).aliases == shown
        (given,) = await store.asserted([ADA.id])
        assert (given.entity.aliases, given.named) == (entity.aliases, False)
        assert [each.entity_id for each in await store.find_names(["the countess", "nobody"])] == [ADA.id]
        assert await matching(store, ElementKind.ENTITY, "countess") == [ADA.id]

    async def test_a_surface_goes_with_its_last_mention(self, store: GraphStore) -> None:
        memories = (Memory(id="a"), Memory(id="b"))
        mentions = (
            surface_mention("a", ADA, "Countess"),
            surface_mention("b", ADA, "Countess"),
            surface_mention("b", ADA, "Enchantress"),
        )
        await put(store, ADA, *memories, *mentions)
        await store.forget(["b"])
        assert (await stored_entity(store, ADA)).aliases == ("Countess",)
        assert await store.find_names(["enchantress"]) == []
        await put(store, Memory(id="a"), surface_mention("a", ADA, "Ada Lovelace"))
        assert (await stored_entity(store, ADA)).aliases == ()
        assert await store.find_name_words(["countess"]) == []

    # -- names known from mentions alone --------------------------------------------------------------------------

    async def test_a_name_that_was_given_stays(self, store: GraphStore) -> None:
        memories = (Memory(id="a"), Memory(id="b"))
        mentions = (surface_mention("a", ADA, "Ada Lovelace"), surface_mention("b", ADA, "Countess"))
        await put(store, *memories, *mentions, named=(ADA,))
        await put(store, ADA)
        assert not (await store.asserted([ADA.id]))[0].named
        await store.forget(["a"])
        assert (await stored_entity(store, ADA)).name == "Ada Lovelace"

    @few_examples
    @given(annotated_memories("a"), annotated_memories("b"))
    async def test_forgetting_equals_never_having_written(
        self, fresh: FreshScope, first: Sequence[AnnotatedMemory], second: Sequence[AnnotatedMemory]
    ) -> None:
        alone, both = fresh(), fresh()
        await _prepared(alone, both)
        for store in (alone, both):
            await write_memories(store, first)
        await write_memories(both, second)
        await forget(both, second)
        assert await answers(both) == await answers(alone)


async def _prepared(*stores: GraphStore) -> None:
    """Scopes that exist."""
    for store in stores:
        await put(store, Memory(id="before"))


PRIYA = person("Priya Sharma", aliases=("psharma", "Priyanka"))
PATEL = person("Priya Patel")
CODE = Entity(type="tool", name="Visual Studio Code", aliases=("C++ editor",))


ENTITY = ElementKind.ENTITY
OPEN = Entity(type="function", name="open", description="Open it.")
SHUT = Entity(type="function", name="shut", description="Shut it.")


async def find_by_words(store: GraphStore, asked: str) -> dict[UUID | str, float]:
    """The entities that a search by words finds, with their scores."""
    async with store.snapshot():
        hits = await store.search_lexical(ENTITY, asked, limit=10, view=view())
        return dict(zip(ids_of(store, ENTITY, hits), hits.values.tolist(), strict=True))


class NamingSpec(StoreSpec):
    """`find_name_words`, `similar_names`, `surface_forms`, `words`."""

    # -- words ---------------------------------------------------------------------------------------------------

    async def test_entities_are_found_by_the_words_of_their_names(self, store: GraphStore) -> None:
        await put(store, PRIYA, PATEL, CODE)
        found = await store.find_name_words(["priya", "psharma", "vsc", "c++", "visualstudiocode", "editor", "pri", ""])
        assert {(each.name, each.entity_id, each.alias) for each in found} == {
            ("priya", PRIYA.id, False),
            ("priya", PATEL.id, False),
            ("psharma", PRIYA.id, True),
            ("vsc", CODE.id, False),
            ("visualstudiocode", CODE.id, False),
            ("c++", CODE.id, True),
            ("editor", CODE.id, True),
        }
        assert [each.entity_id for each in found] == sorted(each.entity_id for each in found)

    async def test_entities_are_found_by_beginnings_of_words(self, store: GraphStore) -> None:
        await put(store, PRIYA, PATEL, CODE)
        found = await store.find_name_words(["priyan", "pa", "stud", "harma", "%", "_"], prefix=True)
        assert {(each.name, each.entity_id, each.alias) for each in found} == {
            ("priyan", PRIYA.id, True),
            ("pa", PATEL.id, False),
            ("stud", CODE.id, False),
        }
        (found_own,) = await store.find_name_words(["priya"], prefix=True, limit=1)
        assert (found_own.entity_id, found_own.alias) == (min(PRIYA.id, PATEL.id), False)

    async def test_the_names_and_rare_words_of_a_question_are_looked_up_at_once(self, store: GraphStore) -> None:
        old = person("Priya Rao", valid_to=day(1))
        await put(store, PRIYA, PATEL, CODE, old)
        found = await store.named(["psharma", "nobody"], ["priya", "sharma", "rao", "c++"], limit=3, view=view())
        matched = {(each.name, each.entity_id, each.alias) for each in found.matches}
        assert matched == {
            ("psharma", PRIYA.id, True),
            ("sharma", PRIYA.id, False),
            ("rao", old.id, False),
            ("c++", CODE.id, True),
        }
        assert found.common == ["priya"]
        assert ids_of(store, ENTITY, found.hits) == [each.id for each in found.entities] == sorted((PRIYA.id, CODE.id))
        nothing = await store.named([], [], limit=3, view=view())
        assert (len(nothing.matches), len(nothing.hits), len(nothing.entities)) == (0, 0, 0)

    # -- similarity ----------------------------------------------------------------------------------------------

    async def test_similar_names_are_found_best_first(self, store: GraphStore) -> None:
        near, same = person("Priya Sharmaa"), Entity(type="tool", name="PRIYA  sharma")
        await put(store, PRIYA, near, same, CODE)
        found = await store.similar_names(["Priya Sharma", "priyanka s", "C++ Editors", "nobody"], threshold=0.6)
        first = sorted((PRIYA.id, same.id))
        assert found["Priya Sharma"] == [
            *(SimilarName(name="priya sharma", entity_id=each, similarity=1.0) for each in first),
            SimilarName(
                name="priya sharmaa", entity_id=near.id, similarity=similarity("priya sharma", "priya sharmaa")
            ),
        ]
        assert [each.name for each in found["C++ Editors"]] == ["c++ editor"]
        assert found["nobody"] == []
        limited = await store.similar_names(["Priya Sharma"], threshold=0.95, limit=1)
        assert [each.entity_id for each in limited["Priya Sharma"]] == first[:1]

    async def test_names_follow_what_is_written(self, store: GraphStore) -> None:
        await put(store, PRIYA, PATEL)
        await put(store, attrs.evolve(PRIYA, name="Augusta", aliases=("King",)))
        assert [each.entity_id for each in await store.find_name_words(["priya", "sharma", "psharma"])] == [PATEL.id]
        assert (await store.similar_names(["psharma"], threshold=0.6))["psharma"] == []
        assert [each.alias for each in await store.find_name_words(["king"])] == [True]
        await store.delete(entities=[PRIYA.id])
        assert await store.find_name_words(["king", "augusta"]) == []
        assert await store.similar_names(["augusta"], threshold=0.6) == {"augusta": []}

    async def test_words_find_an_entity_by_their_weight(self, store: GraphStore) -> None:
        await put(store, OPEN, SHUT, words={OPEN.id: {"latch": 0.5}, SHUT.id: {"latch": 2, "key": 1}})
        found = await find_by_words(store, "latches")
        assert list(found) == [SHUT.id, OPEN.id]
        assert list(await store.document_frequencies(ENTITY, [["latch"], ["key"], ["key", "latch"]])) == [2, 1, 1]


KESTREL = Entity(type="concept", name="Kestrel")
UNTYPED, FIRST, SECOND = (Memory(id=key, occurred_at=day(at)) for key, at in (("z", 1), ("y", 3), ("x", 5)))


def typed(memory: Memory, type: str = "", entity: Entity = KESTREL, surface: str = "") -> Mention:
    """A mention whose text states the type of the entity."""
    return Mention(memory_id=memory.id, entity_id=entity.id, surface=surface or entity.name, type=type)


async def shown(store: GraphStore, entity: Entity = KESTREL) -> str:
    """The type of an entity, which its signature shares and by which it is listed."""
    (found,) = await store.get_entities([entity.id])
    hits = await store.locate([entity.id], view=view(store.clock.now()))
    (signature,) = (await store.signatures(hits.signatures.tolist())).values()
    assert signature.type == found.type
    assert found in await store.list_entities(type=found.type)
    return found.type


async def nearest(store: GraphStore) -> list[object]:
    """The entities that have vectors."""
    found = await store.search_by_embedding(ElementKind.ENTITY, vector(1, 0), limit=9, view=view(store.clock.now()))
    return list(ids_of(store, ElementKind.ENTITY, found))


class TypingSpec(StoreSpec):
    """`Mention.type`, and the types after `write`, `forget`, `merge` and `undo_merge`."""

    async def test_a_mention_keeps_its_type(self, store: GraphStore) -> None:
        mentions = (typed(FIRST, "Code Name"), typed(FIRST), typed(FIRST, surface="K"))
        await put(store, KESTREL, FIRST, *mentions)
        found = await store.list_mentions(memory_ids=[FIRST.id])
        assert sorted((each.surface, each.type) for each in found) == [
            ("K", ""),
            ("Kestrel", ""),
            ("Kestrel", "code_name"),
        ]
        await put(store, FIRST, typed(FIRST, "tool"))
        assert await store.list_mentions(memory_ids=[FIRST.id]) == [typed(FIRST, "tool")]

    async def test_the_first_typed_mention_gives_the_type_in_any_order(self, fresh: FreshScope) -> None:
        mentions = {UNTYPED: typed(UNTYPED), FIRST: typed(FIRST, "project"), SECOND: typed(SECOND, "tool")}
        for order in permutations(mentions):
            store = fresh()
            for at, memory in enumerate(order):
                await put(store, memory, mentions[memory], named=() if at else (KESTREL,))
            assert await shown(store) == "project"
            assert (await store.statistics()).entities_by_type == {"project": 1}
            (given,) = await store.asserted([KESTREL.id])
            assert (given.entity.id, given.entity.type, given.named) == (KESTREL.id, "concept", True)
