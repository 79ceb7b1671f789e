"""Words of names, approximate names, and words beside names."""

from __future__ import annotations

from uuid import UUID

import attrs

from graphsearch.model import ElementKind, Entity, SimilarName
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.samples import day, ids_of, person, put, view
from graphsearch.testing.spec import StoreSpec
from graphsearch.text.trigrams import similarity

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
    """`find_name_words`, `named`, `similar_names`, and words of entities."""

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
