"""Approximate names, by word, by the beginning of a word and by trigrams; and words in addition to the texts."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import attrs
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphsearch.claims.naming import MAX_TRIGRAMS, folded_name
from graphsearch.errors import InvalidInputError
from graphsearch.model import MAX_WORD_WEIGHT, ElementKind, Entity, SimilarName
from graphsearch.protocols import GraphStore
from graphsearch.testing.samples import HOSTILE_TEXTS, ids_of, person, put, view
from graphsearch.testing.spec import FreshScope, StoreSpec
from graphsearch.testing.strategies import SURFACES, few_examples, texts
from graphsearch.text.bm25 import grid, idf, saturated
from graphsearch.text.trigrams import name_words, similarity, trigrams

PRIYA = person("Priya Sharma", aliases=("psharma", "Priyanka"))
PATEL = person("Priya Patel")
CODE = Entity(type="tool", name="Visual Studio Code", aliases=("C++ editor",))
names = st.one_of(st.sampled_from(SURFACES), texts(max_size=20))


def most_alike(entity: Entity, name: str) -> float:
    """The greatest similarity of a name to any of an entity's names."""
    return max(similarity(folded_name(each), folded_name(name)) for each in (entity.name, *entity.aliases))


ENTITY = ElementKind.ENTITY
OPEN = Entity(type="function", name="open", description="Open it.")
SHUT = Entity(type="function", name="shut", description="Shut it.")


async def _found(store: GraphStore, asked: str) -> dict[UUID | str, float]:
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

    async def test_the_lowest_ids_come_first_of_more_than_asked_for(self, store: GraphStore) -> None:
        people = [person(f"Ada {number}") for number in range(30)]
        await put(store, *people)
        lowest = sorted(each.id for each in people)[:7]
        for prefix in (False, True):
            found = await store.find_name_words(["ada"], prefix=prefix, limit=7)
            assert [each.entity_id for each in found] == lowest
        assert await store.find_name_words(["ada"], limit=0) == []

    async def test_a_name_of_many_words_is_found_by_its_first(self, store: GraphStore) -> None:
        long = person(" ".join(f"w{number}" for number in range(500)))
        await put(store, long, person("x" * 3000))
        assert [each.entity_id for each in await store.find_name_words(["w1", "w499"])] == [long.id]

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

    async def test_hostile_names_are_compared_as_they_are(self, store: GraphStore) -> None:
        entities = {each.id: each for each in map(person, HOSTILE_TEXTS)}
        await put(store, *entities.values())
        found = await store.similar_names([*HOSTILE_TEXTS, "\0", "\ud800", ""], threshold=0.6, limit=100)
        for name in HOSTILE_TEXTS:
            if len(name) < 1000:
                expected = {
                    key for key, each in entities.items() if len(each.name) < 1000 and most_alike(each, name) >= 0.6
                }
                assert {each.entity_id for each in found[name]} == expected
        assert found["\0"] == found["\ud800"] == found[""] == []

    @pytest.mark.parametrize("threshold", [0.59, 1.1, float("nan")])
    async def test_a_threshold_that_no_index_is_made_for_is_refused(self, store: GraphStore, threshold: float) -> None:
        await put(store, PRIYA)
        with pytest.raises(InvalidInputError, match="threshold"):
            await store.similar_names(["priya"], threshold=threshold)
        with pytest.raises(InvalidInputError, match="limit"):
            await store.find_name_words(["priya"], limit=-1)

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
        found = await _found(store, "latches")
        assert list(found) == [SHUT.id, OPEN.id]
        # "open", "open" and half of "latch" are 2.5 terms; "shut" twice, "latch" twice and "key" are 5.
        average, rarity = grid((2.5 + 5.0) / 2), idf(2, 2)
        expected = [
            rarity * saturated({"latch": weight}, length, average)["latch"] for weight, length in ((2, 5.0), (0.5, 2.5))
        ]
        assert list(found.values()) == pytest.approx(expected, abs=1e-6)
        assert list(await store.document_frequencies(ENTITY, [["latch"], ["key"], ["key", "latch"]])) == [2, 1, 1]

    async def test_words_are_read_as_stored_and_shown_nowhere_else(self, store: GraphStore) -> None:
        await put(store, OPEN, SHUT, words={OPEN.id: {"latch": 1 / 3, "a": 1e-9}})
        assert await store.words([OPEN.id, SHUT.id]) == {OPEN.id: {"latch": 21 / 64, "a": 1 / 64}}
        assert await store.words([]) == {}
        (stored,) = await store.get_entities([OPEN.id])
        assert attrs.evolve(stored, created_at=None) == OPEN

    async def test_words_stay_until_others_are_given(self, store: GraphStore) -> None:
        await put(store, OPEN, words={OPEN.id: {"latch": 1.0}})
        await put(store, attrs.evolve(OPEN, description="Opens."))
        assert list(await _found(store, "latch")) == [OPEN.id]
        await put(store, OPEN, words={OPEN.id: {"key": 1.0}})
        assert [list(await _found(store, asked)) for asked in ("latch", "key")] == [[], [OPEN.id]]
        await put(store, OPEN, words={OPEN.id: {}})
        assert await _found(store, "key") == {} == await store.words([OPEN.id])
        assert list(await _found(store, "open")) == [OPEN.id]

    async def test_words_go_with_their_entity(self, store: GraphStore) -> None:
        await put(store, OPEN, SHUT, words={OPEN.id: {"latch": 1.0}})
        await store.delete(entities=[OPEN.id])
        assert await store.words([OPEN.id]) == {}
        await put(store, OPEN)
        assert await _found(store, "latch") == {}
        assert list(await store.document_frequencies(ENTITY, [["latch"]])) == [0]

    async def test_words_of_many_count_alike_before_they_are_settled_and_after(self, store: GraphStore) -> None:
        many = [Entity(type="function", name=f"f{number}") for number in range(1_001)]
        words: Mapping[UUID, Mapping[str, float]] = {
            each.id: {"latch": 1 + number % 3 / 8} for number, each in enumerate(many)
        }
        await put(store, *many, words=words)
        before = await _found(store, "latch")
        assert len(before) == 10
        assert list(await store.document_frequencies(ENTITY, [["latch"]])) == [1_001]
        await store.settle()
        after = await _found(store, "latch")
        assert list(after) == list(before)
        assert np.allclose(list(after.values()), list(before.values()), atol=1e-6)

    async def test_words_that_are_none_are_refused(self, store: GraphStore) -> None:
        for words, fault in (
            ({SHUT.id: {"latch": 1.0}}, "no entity"),
            ({OPEN.id: {"": 1.0}}, "must not be empty"),
            ({OPEN.id: {"latch": -1.0}}, "must be in"),
            ({OPEN.id: {"latch": 2 * MAX_WORD_WEIGHT}}, "must be in"),
        ):
            with pytest.raises(InvalidInputError, match=fault):
                await put(store, OPEN, words=words)
