"""Finding elements by name, by vector, by words and by id."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import attrs
import numpy as np
import pytest

from graphsearch.columns import Hits
from graphsearch.errors import EmbeddingModelError
from graphsearch.model import ElementKind, Entity, Memory, Outcome, Vector
from graphsearch.model.signatures import entity_signature
from graphsearch.protocols import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    day,
    ids_of,
    matching,
    near,
    person,
    put,
    ref,
    relation,
    vector,
    view,
)
from graphsearch.testing.spec import StoreSpec
from graphsearch.text.bm25 import TermCounts, grid, idf, saturated

ENTITY, RELATION, MEMORY = ElementKind.ENTITY, ElementKind.RELATION, ElementKind.MEMORY


class FindingSpec(StoreSpec):
    """`find_names`, `search_by_embedding`, `search_lexical`, `locate`, `elements`."""

    # -- names ---------------------------------------------------------------------------------------------------

    async def test_names_and_aliases_are_compared_normalised(self, store: GraphStore) -> None:
        entity = person("Ada  Lovelace", aliases=("The Countess", "ﬁrst programmer"))
        code = Entity(type="class", name="ssl.SSLSocket")
        await put(store, entity, code)
        for asked, alias in (
            ("ada lovelace", False),
            ("ADA LOVELACE", False),
            (" Ada Lovelace ", False),
            ("the countess", True),
            ("First Programmer", True),
        ):
            (found,) = await store.find_names([asked])
            assert (found.name, found.entity_id, found.alias) == (asked, entity.id, alias)
        assert [each.entity_id for each in await store.find_names(["SSL.sslsocket"])] == [code.id]
        assert await store.find_names(["ada", "ada lovelac_", "%", "", "lovelace"]) == []

    async def test_a_name_wins_over_an_alias_and_all_that_share_one_are_found(self, store: GraphStore) -> None:
        paris = Entity(type="place", name="Paris", aliases=("PARIS", "City of Light"))
        other = person("Hilton", aliases=("Paris",))
        await put(store, paris, other)
        found = await store.find_names(["paris"])
        assert {each.entity_id: each.alias for each in found} == {paris.id: False, other.id: True}
        assert [each.entity_id for each in found] == sorted((paris.id, other.id))

    # -- vectors -------------------------------------------------------------------------------------------------

    async def test_the_nearest_come_first_with_their_cosine_distance(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        vectors: dict[UUID | str, Vector] = {ADA.id: vector(2, 0), BOB.id: vector(1, 1), EVE.id: vector(-3, 0)}
        heavy = attrs.evolve(BOB, importance_weight=0.9, labels=("x",))
        await put(store, ADA, heavy, EVE, person("No Vector"), vectors=vectors)
        async with store.snapshot():
            hits = await store.search_by_embedding(ENTITY, vector(5, 0), limit=10, view=view())
            assert ids_of(store, ENTITY, hits) == [ADA.id, BOB.id, EVE.id]
            assert hits.values == pytest.approx([0, 1 - 0.5**0.5, 2], abs=1e-6)
            assert hits.importance.tolist() == [0.5, 0.9, 0.5]
            contents = await store.signatures(hits.signatures.tolist())
            assert [contents[code] for code in hits.signatures.tolist()] == [
                entity_signature(each) for each in (ADA, heavy, EVE)
            ]
        assert await near(store, ENTITY, vector(5, 0), limit=1) == [ADA.id]
        assert await near(store, ENTITY, vector(5, 0), limit=0) == []
        assert await near(store, MEMORY, vector(5, 0)) == []

    async def test_equally_near_elements_come_in_order_of_id(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 3)
        people = [person(f"P{number}") for number in range(40)]
        await put(store, *people, vectors={each.id: vector(1, 2, 3) for each in people})
        assert await near(store, ENTITY, vector(3, 2, 2), limit=10) == sorted(each.id for each in people)[:10]

    async def test_a_query_of_another_length_is_refused(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        await put(store, ADA, vectors={ADA.id: vector(1, 0)})
        with pytest.raises(EmbeddingModelError):
            await store.search_by_embedding(ENTITY, vector(1, 0, 0), limit=1, view=view())

    async def test_searches_see_what_is_in_view(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        past = person("Ada past", valid_to=day(10), created_at=day(0))
        future = person("Ada future", valid_from=day(20), created_at=day(0))
        late = person("Ada late", created_at=day(15))
        merged = person("Ada merged", created_at=day(0), merged_into=past.id)
        old = Memory(id="old", text="ada", occurred_at=day(1), created_at=day(0))
        new = Memory(id="new", text="ada", occurred_at=day(20), created_at=day(0))
        weak = relation(past, future, "a", fact="ada", confidence=0.2, created_at=day(0))
        sure = relation(past, future, "b", fact="ada", created_at=day(0))
        gone = relation(past, future, "c", fact="ada", created_at=day(0), retracted_at=day(5))
        everything = (past, future, late, merged, old, new, weak, sure, gone)
        await put(
            store,
            entities=(past, future, late, merged),
            memories=(old, new),
            relations=(weak, sure, gone),
            vectors={each.id: vector(1, 0) for each in everything},
        )
        expected: list[tuple[ElementKind, dict[str, Any], set[UUID | str]]] = [
            (ENTITY, {"as_of": day(5)}, {past.id}),
            (ENTITY, {"as_of": day(10), "known_at": day(20)}, {late.id}),
            (ENTITY, {"as_of": day(20)}, {future.id, late.id}),
            (MEMORY, {"as_of": day(5)}, {"old"}),
            (MEMORY, {"as_of": day(20)}, {"old", "new"}),
            (RELATION, {"as_of": day(6)}, {sure.id}),
            (RELATION, {"as_of": day(6), "known_at": day(4)}, {sure.id, gone.id}),
            (RELATION, {"as_of": day(6), "min_edge_confidence": 0.2}, {sure.id, weak.id}),
            (RELATION, {"as_of": day(6), "skipped_types": frozenset({"b"})}, set()),
        ]
        for kind, options, found in expected:
            assert set(await near(store, kind, vector(1, 0), **options)) == found
            assert set(await matching(store, kind, "ada", **options)) == found

    # -- words ---------------------------------------------------------------------------------------------------

    async def test_words_are_ranked_by_bm25(self, store: GraphStore) -> None:
        texts = {
            "a": "tls handshake of the socket",
            "b": "handshake, handshake, handshake",
            "c": "a socket is closed and then another socket is opened somewhere else",
            "d": "nothing of the kind",
            "e": "the of and",
        }
        await put(store, *(Memory(id=key, text=text) for key, text in texts.items()))
        counts = {
            "a": {"tls": 1, "handshake": 1, "socket": 1},
            "b": {"handshake": 3},
            "c": {"socket": 2, "closed": 1, "another": 1, "opened": 1, "somewhere": 1, "else": 1},
            "d": {"nothing": 1, "kind": 1},
        }
        average = grid(sum(sum(each.values()) for each in counts.values()) / 4)
        scores = {}
        for key in "abc":
            weights = saturated(counts[key], sum(counts[key].values()), average)
            scores[key] = idf(4, 2) * (weights.get("handshake", 0.0) + weights.get("socket", 0.0))
        async with store.snapshot():
            hits = await store.search_lexical(MEMORY, "Socket handshake? handshake", limit=10, view=view())
            assert ids_of(store, MEMORY, hits) == sorted(scores, key=lambda key: -scores[key])
            assert hits.values == pytest.approx(sorted(scores.values(), reverse=True), rel=1e-5)
            assert hits.importance.tolist() == [0.5] * 3
        assert await matching(store, MEMORY, "socket handshake", limit=1) == ["a"]

    async def test_given_counts_replace_the_numbers_of_documents_of_the_scope(self, store: GraphStore) -> None:
        texts = {"a": "red lamp", "b": "green lamp", "c": "red chair"}
        await put(store, *(Memory(id=key, text=text) for key, text in texts.items()))
        assert await matching(store, MEMORY, "red green") == ["b", "a", "c"]
        elsewhere = TermCounts(documents=100, containing={"red": 2, "green": 90})
        async with store.snapshot():
            hits = await store.search_lexical(MEMORY, "red green", limit=10, view=view(), counts=elsewhere)
            found = dict(zip(ids_of(store, MEMORY, hits), hits.values.tolist(), strict=True))
            same = TermCounts(documents=3, containing={"red": 2, "green": 1})
            own = await store.search_lexical(MEMORY, "red green", limit=10, view=view())
            given = await store.search_lexical(MEMORY, "red green", limit=10, view=view(), counts=same)
            assert given.values.tolist() == own.values.tolist()
        assert list(found) == ["a", "c", "b"]
        weight = saturated({"red": 1}, 2, grid(2.0))["red"]  # every text has two words
        scores = {key: idf(100, number) * weight for key, number in (("a", 2), ("c", 2), ("b", 90))}
        assert found == pytest.approx(scores, rel=1e-5)

    async def test_the_analyser_makes_the_terms_that_are_searched_by(self, store: GraphStore) -> None:
        entity = person("Ada Lovelace", description="walked along the rivers")
        await put(store, entity)
        asked = "walking a river"
        assert set(store.analyser.terms(asked)) <= set(store.analyser.terms(entity.description))
        for question, found in ((asked, [entity.id]), ("swimming", [])):
            assert await matching(store, ElementKind.ENTITY, question) == found

    async def test_rare_words_select_the_candidates(self, store: GraphStore) -> None:
        memories = [Memory(id=f"m{number:04}", text="common word") for number in range(2_010)]
        memories[7] = Memory(id="m0007", text="rare word")
        await put(store, *memories)
        assert await matching(store, MEMORY, "rare common word") == ["m0007"]
        assert await matching(store, MEMORY, "common word", limit=9) == [
            each.id for each in memories[:10] if each != memories[7]
        ]

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
            for limit in (1, 2, 5, 12, 39):
                assert await matching(store, MEMORY, asked, limit=limit, **seen) == wide[:limit]

    async def test_each_kind_is_found_by_its_text(self, store: GraphStore) -> None:
        engine = Entity(type="tool", name="analyticalEngine", description="It computes.", aliases=("mill",))
        memory = Memory(id="m", subject="Weather", text="It rained.")
        fact = relation(ADA, engine, fact="Ada wrote notes.")
        await put(store, ADA, engine, memory, fact)
        for asked in ("analyticalengine", "engine", "computes", "mill", "It COMPUTES"):
            assert await matching(store, ENTITY, asked) == [engine.id]
        assert await matching(store, MEMORY, "weather") == await matching(store, MEMORY, "rained?") == ["m"]
        assert await matching(store, RELATION, "notes") == [fact.id]

    async def test_words_follow_what_is_written(self, store: GraphStore) -> None:
        await put(store, Memory(id="a", text="red green"), Memory(id="b", text="red"))
        await put(store, Memory(id="a", text="blue"))
        assert await matching(store, MEMORY, "green") == []
        assert await matching(store, MEMORY, "blue") == ["a"]
        before = await _scores(store, "red")
        await put(store, Memory(id="c", text="red"))
        await store.forget(["c"])
        assert await _scores(store, "red") == pytest.approx(before, rel=1e-6)

    async def test_equally_good_elements_come_in_order_of_id(self, store: GraphStore) -> None:
        people = [person(f"P{number}", description="same words") for number in range(25)]
        await put(store, *people)
        same = [attrs.evolve(each, name="P") for each in people]
        await put(store, *same)
        assert await matching(store, ENTITY, "words", limit=8) == sorted(each.id for each in people)[:8]

    # -- ids -----------------------------------------------------------------------------------------------------

    async def test_entities_are_located_in_order_of_key_if_they_hold(self, store: GraphStore) -> None:
        ended = person("Ended", valid_to=day(10))
        await put(store, ADA, BOB, ended)
        async with store.snapshot():
            hits: Hits = await store.locate([BOB.id, ended.id, ADA.id, EVE.id, ADA.id], view=view())
            assert ids_of(store, ENTITY, hits) == sorted((ADA.id, BOB.id))
            assert hits.values.tolist() == [0, 0]
            assert np.array_equal(np.sort(hits.keys), hits.keys)
            assert len(await store.locate([], view=view())) == 0

    async def test_keys_sort_as_ids_do(self, store: GraphStore) -> None:
        people = [person(f"P{number}") for number in range(50)]
        await put(store, *people)
        async with store.snapshot():
            hits = await store.locate([each.id for each in people], view=view())
            shuffled = np.random.default_rng(1).permutation(hits.keys)
            assert list(store.entity_ids(np.unique(shuffled))) == sorted(each.id for each in people)
            assert np.isin(shuffled, hits.keys[:10]).sum() == 10
            assert np.searchsorted(hits.keys, hits.keys).tolist() == list(range(50))

    async def test_elements_are_read_by_their_keys_as_by_their_ids(self, store: GraphStore) -> None:
        links = [relation(ADA, BOB, created_at=day(1)), relation(BOB, EVE, created_at=day(1))]
        pair = [Memory(id=id_, text="red", created_at=day(1)) for id_ in ("a", "b")]
        await put(store, ADA, BOB, EVE, *links, *pair)
        for learnt in (False, True):  # before and after feedback on some of them
            if learnt:
                await store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA), ref(links[0]), ref(pair[0])])
            async with store.snapshot():
                entities = (await store.locate([ADA.id, BOB.id, EVE.id], view=view())).keys[::-1]
                relations = (await store.expand(entities, fan_out=9, view=view())).relations[:2]
                memories = (await store.search_lexical(MEMORY, "red", limit=9, view=view())).keys
                by_id = (
                    await store.get_entities(store.entity_ids(entities)),
                    await store.get_relations(store.relation_ids(relations)),
                    await store.get_memories(store.memory_ids(memories)),
                )
                for kind, keys, expected in zip(ElementKind, (entities, relations, memories), by_id, strict=True):
                    assert len(expected) == len(keys) > 1
                    assert list(await store.elements(kind, keys)) == list(expected)
                    assert list(await store.elements(kind, keys[:0])) == []


async def _scores(store: GraphStore, asked: str) -> list[float]:
    hits = await store.search_lexical(MEMORY, asked, limit=10, view=view())
    found: list[float] = hits.values.tolist()
    return found
