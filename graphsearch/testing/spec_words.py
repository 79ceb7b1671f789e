"""Words by which entities are found in addition to their texts."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import attrs
import numpy as np
import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.model import MAX_WORD_WEIGHT, Batch, ElementKind, Entity
from graphsearch.protocols import GraphStore
from graphsearch.testing.samples import ids_of, view
from graphsearch.testing.spec import StoreSpec
from graphsearch.text.bm25 import grid, idf, saturated

ENTITY = ElementKind.ENTITY
OPEN = Entity(type="function", name="open", description="Open it.")
SHUT = Entity(type="function", name="shut", description="Shut it.")


async def _found(store: GraphStore, asked: str) -> dict[UUID | str, float]:
    async with store.snapshot():
        hits = await store.search_lexical(ENTITY, asked, limit=10, view=view())
        return dict(zip(ids_of(store, ENTITY, hits), hits.values.tolist(), strict=True))


class WordsSpec(StoreSpec):
    """`Batch.words` and `words`."""

    async def test_words_find_an_entity_by_their_weight(self, store: GraphStore) -> None:
        await store.write(
            Batch(entities=(OPEN, SHUT), words={OPEN.id: {"latch": 0.5}, SHUT.id: {"latch": 2, "key": 1}})
        )
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
        await store.write(Batch(entities=(OPEN, SHUT), words={OPEN.id: {"latch": 1 / 3, "a": 1e-9}}))
        assert await store.words([OPEN.id, SHUT.id]) == {OPEN.id: {"latch": 21 / 64, "a": 1 / 64}}
        assert await store.words([]) == {}
        (stored,) = await store.get_entities([OPEN.id])
        assert attrs.evolve(stored, created_at=None) == OPEN

    async def test_words_stay_until_others_are_given(self, store: GraphStore) -> None:
        await store.write(Batch(entities=(OPEN,), words={OPEN.id: {"latch": 1.0}}))
        await store.write(Batch(entities=(attrs.evolve(OPEN, description="Opens."),)))
        assert list(await _found(store, "latch")) == [OPEN.id]
        await store.write(Batch(entities=(OPEN,), words={OPEN.id: {"key": 1.0}}))
        assert [list(await _found(store, asked)) for asked in ("latch", "key")] == [[], [OPEN.id]]
        await store.write(Batch(entities=(OPEN,), words={OPEN.id: {}}))
        assert await _found(store, "key") == {} == await store.words([OPEN.id])
        assert list(await _found(store, "open")) == [OPEN.id]

    async def test_words_go_with_their_entity(self, store: GraphStore) -> None:
        await store.write(Batch(entities=(OPEN, SHUT), words={OPEN.id: {"latch": 1.0}}))
        await store.delete(entities=[OPEN.id])
        assert await store.words([OPEN.id]) == {}
        await store.write(Batch(entities=(OPEN,)))
        assert await _found(store, "latch") == {}
        assert list(await store.document_frequencies(ENTITY, [["latch"]])) == [0]

    async def test_words_of_many_count_alike_before_they_are_settled_and_after(self, store: GraphStore) -> None:
        many = [Entity(type="function", name=f"f{number}") for number in range(1_001)]
        words: Mapping[UUID, Mapping[str, float]] = {
            each.id: {"latch": 1 + number % 3 / 8} for number, each in enumerate(many)
        }
        await store.write(Batch(entities=many, words=words))
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
                await store.write(Batch(entities=(OPEN,), words=words))
