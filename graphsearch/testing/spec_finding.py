"""Finding elements by name, by vector, by words and by id, what a view shows of them, and expanding them."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

import attrs
import numpy as np
import pytest

from graphsearch.columns import Hits
from graphsearch.errors import EmbeddingModelError, InvalidInputError
from graphsearch.model import ElementKind, Entity, Memory, Vector, View
from graphsearch.model.signatures import entity_signature
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import NOON
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    day,
    expanded,
    ids_of,
    matching,
    near,
    person,
    put,
    relation,
    rows_of,
    vector,
    view,
)
from graphsearch.testing.spec import StoreSpec
from graphsearch.text.bm25 import grid, idf, saturated

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

    async def test_what_cannot_be_asked_is_refused(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        await put(store, ADA)
        with pytest.raises(EmbeddingModelError):
            await store.search_by_embedding(ENTITY, vector(1, 0, 0), limit=1, view=view())
        for asked in (
            store.find_name_words(["a"], limit=-1),
            store.edges(limit=-1, view=view()),
            *(store.similar_names(["a"], threshold=each) for each in (0.59, 1.1, float("nan"))),
        ):
            with pytest.raises(InvalidInputError):
                await asked

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
        counts = {key: Counter(store.analyser.terms(text)) for key, text in texts.items()}
        average = grid(sum(each.total() for each in counts.values()) / 4)  # "e" has stop words alone
        weights = {key: saturated(counts[key], counts[key].total(), average) for key in "abc"}
        asked = store.analyser.terms("socket handshake")
        scores = {key: idf(4, 2) * sum(of.get(term, 0.0) for term in asked) for key, of in weights.items()}
        async with store.snapshot():
            hits = await store.search_lexical(MEMORY, "Socket handshake? handshake", limit=10, view=view())
            assert ids_of(store, MEMORY, hits) == sorted(scores, key=lambda key: -scores[key])
            assert hits.values == pytest.approx(sorted(scores.values(), reverse=True), rel=1e-5)
            assert hits.importance.tolist() == [0.5] * 3
        assert await matching(store, MEMORY, "socket handshake", limit=1) == ["a"]

    async def test_each_kind_is_found_by_its_text(self, store: GraphStore) -> None:
        engine = Entity(type="tool", name="analyticalEngine", description="It computes.", aliases=("mill",))
        memory = Memory(id="m", subject="Weather", text="It rained.")
        fact = relation(ADA, engine, fact="Ada wrote notes.")
        await put(store, ADA, engine, memory, fact)
        for asked in ("analyticalengine", "engine", "computes", "mill", "It COMPUTES"):
            assert await matching(store, ENTITY, asked) == [engine.id]
        assert await matching(store, MEMORY, "weather") == await matching(store, MEMORY, "rained?") == ["m"]
        assert await matching(store, RELATION, "notes") == [fact.id]

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


CYD = person("Cyd", valid_from=day(10), valid_to=day(20))
EARLY = relation(ADA, BOB, "knew", valid_to=day(10), fact="ada early")
SHORT = relation(ADA, BOB, "hired", valid_from=day(12), valid_to=day(14), fact="ada short")
LONG = relation(BOB, ADA, "knows", valid_from=day(13), fact="ada long")
ALWAYS = relation(ADA, ADA, "likes", fact="ada always")
RELATIONS = (EARLY, SHORT, LONG, ALWAYS)


async def _seen(store: GraphStore, seen: View) -> set[UUID]:
    """The relations in a view, on which all reads agree."""
    async with store.snapshot():
        ada = await store.locate([ADA.id], view=view())
        walked = set(store.relation_ids((await store.expand(ada.keys, fan_out=25, view=seen)).relations))
        assert set(store.relation_ids((await store.edges(view=seen)).relations)) == walked
        for found in (
            await store.search_lexical(ElementKind.RELATION, "ada", limit=9, view=seen),
            await store.search_by_embedding(ElementKind.RELATION, vector(1, 0), limit=9, view=seen),
        ):
            assert set(ids_of(store, ElementKind.RELATION, found)) == walked
        assert sum((await store.left_out(ada.keys, view=seen)).values()) == len(RELATIONS) - len(walked)
        return walked


class ViewingSpec(StoreSpec):
    """Time windows and types."""

    async def _written(self, store: GraphStore) -> None:
        await store.bind_embedder("two", 2)
        vectors = {each.id: vector(1, 0) for each in RELATIONS}
        await put(store, ADA, BOB, CYD, *RELATIONS, vectors=vectors)

    async def test_a_window_shows_what_held_at_any_moment_of_it(self, store: GraphStore) -> None:
        await self._written(store)
        cases: list[tuple[float, float, set[UUID]]] = [
            (1, 30, {EARLY.id, SHORT.id, LONG.id}),
            (10, 11, set()),
            (9.5, 11, {EARLY.id}),
            (10, 12, {SHORT.id}),
            (14, 30, {LONG.id}),
            (13, 13, {SHORT.id, LONG.id}),
        ]
        for since, until, expected in cases:
            seen = view(day(until), store.clock.now(), since=day(since))
            assert await _seen(store, seen) == expected | {ALWAYS.id}

    async def test_entities_are_in_a_window_too(self, store: GraphStore) -> None:
        await self._written(store)
        for since, until, expected in ((1, 9, False), (1, 10, True), (19, 40, True), (20, 40, False)):
            seen = view(day(until), store.clock.now(), since=day(since))
            assert bool(len(await store.locate([CYD.id], view=seen))) is expected

    async def test_only_the_types_asked_for_are_seen(self, store: GraphStore) -> None:
        await self._written(store)
        options: dict[str, Any] = {"since": day(0)}
        for names, expected in (
            ({"likes"}, {ALWAYS.id}),
            ({"knew", "knows", "absent"}, {EARLY.id, LONG.id}),
            ({"absent"}, set()),
            ({"like%", "l_kes", "LIKES", "like"}, set()),
            (set(), {each.id for each in RELATIONS}),
        ):
            assert await _seen(store, view(only_types=names, **options)) == expected
        assert await _seen(store, view(only_types={"likes", "knows"}, skipped_types={"likes"})) == {LONG.id}


HUB = person("Hub")
SPOKES = tuple(person(f"Spoke {number}") for number in range(60))


async def relations_found(store: GraphStore, *near: Entity, fan_out: int = 25, **options: Any) -> list[object]:
    """The ids of the relations found from the entities given, in order."""
    async with expanded(store, *near, fan_out=fan_out, **options) as found:
        return [row[2] for row in rows_of(store, found)]


async def _edges(store: GraphStore, seen: View, limit: int) -> list[tuple[UUID, UUID, UUID, float]]:
    """All edges in pages: relation, source, target, weight."""
    found: list[tuple[UUID, UUID, UUID, float]] = []
    async with store.snapshot():
        while True:
            page = await store.edges(after=found[-1][0] if found else None, limit=limit, view=seen)
            ends = (store.relation_ids(page.relations), store.entity_ids(page.sources), store.entity_ids(page.targets))
            found += zip(*ends, page.weights.tolist(), strict=True)
            assert len(page) <= limit
            if len(page) < limit:
                return found


class ExpandingSpec(StoreSpec):
    """`expand`, `edges`, `left_out`, `signatures`, and the ids of keys."""

    async def test_relations_are_found_from_both_ends_strongest_first(self, store: GraphStore) -> None:
        out = [relation(ADA, each, confidence=0.6 + number / 100) for number, each in enumerate((BOB, EVE, HUB))]
        into = relation(BOB, ADA, "admires", confidence=0.9)
        await put(store, ADA, BOB, EVE, HUB, *out, into)
        async with expanded(store, ADA) as found:
            assert rows_of(store, found) == [
                (ADA.id, True, out[2].id, HUB.id),
                (ADA.id, True, out[1].id, EVE.id),
                (ADA.id, True, out[0].id, BOB.id),
                (ADA.id, False, into.id, BOB.id),
            ]
            assert found.confidence.tolist() == pytest.approx([0.62, 0.61, 0.6, 0.9])

    async def test_a_hop_that_was_read_ahead_is_the_same(self, store: GraphStore) -> None:
        out = [relation(ADA, each, confidence=0.9) for each in (BOB, HUB)]
        beyond = [relation(HUB, each, confidence=0.6 + row / 100) for row, each in enumerate(SPOKES[:6])]
        await put(store, ADA, BOB, HUB, *SPOKES[:6], *out, relation(BOB, HUB), relation(HUB, BOB, "likes"), *beyond)
        found = []
        for ahead in (0, 1):
            async with store.snapshot():
                ada, both = [(await store.locate(ids, view=view())).keys for ids in ([ADA.id], [BOB.id, HUB.id])]
                await store.expand(ada, fan_out=3, view=view(), ahead=ahead)
                hops = [await store.expand(keys, fan_out=3, view=view()) for keys in (both, both[::-1], both[:1], ada)]
                found.append([(rows_of(store, hop), hop.far_importance.tolist(), hop.since.tolist()) for hop in hops])
        assert found[0] == found[1]
        assert len(found[0][0][0]) == 8

    async def test_filters_apply_before_relations_are_counted(self, store: GraphStore) -> None:
        hidden: dict[str, dict[str, Any]] = {
            "past": {"valid_to": day(100)},
            "future": {"valid_from": NOON.replace(year=2030)},
            "retracted": {"retracted_at": day(50), "created_at": day(1)},
            "unknown_yet": {"created_at": NOON.replace(year=2030)},
            "skipped": {},
            "weak": {"confidence": 0.45},
        }
        strong = [
            relation(HUB, each, name, **{"confidence": 0.99, **fields})
            for name, fields in hidden.items()
            for each in SPOKES[:40]
        ]
        kept = [relation(HUB, each, "kept", confidence=0.5 + number / 1000) for number, each in enumerate(SPOKES[40:])]
        await put(store, HUB, *SPOKES, *strong, *kept)
        found = await relations_found(store, HUB, fan_out=5, skipped_types=frozenset({"skipped", "absent"}))
        assert found == [each.id for each in kept[:-6:-1]]

    async def test_what_held_and_what_was_known_are_two_axes(self, store: GraphStore) -> None:
        held = relation(ADA, BOB, valid_from=day(10), valid_to=day(20), created_at=day(100), retracted_at=day(200))
        await put(store, ADA, BOB, held)
        cases = [
            (day(10), day(100), True),
            (day(19), day(199), True),
            (day(20), day(150), False),
            (day(9), day(150), False),
            (day(15), day(99), False),
            (day(15), day(200), False),
        ]
        for as_of, known_at, expected in cases:
            assert await relations_found(store, ADA, as_of=as_of, known_at=known_at) == ([held.id] if expected else [])

    @pytest.mark.parametrize("limit", [1, 2, 100])
    async def test_edges_are_the_relations_in_view(self, store: GraphStore, limit: int) -> None:
        relations = (
            relation(ADA, BOB, confidence=0.75),
            relation(BOB, ADA, valid_from=day(1), valid_to=day(9), confidence=0.5),
            relation(BOB, BOB, created_at=day(3)),
            relation(EVE, HUB, created_at=day(0), retracted_at=day(4)),
            relation(EVE, ADA, "met_with", created_at=day(0)),
            relation(HUB, ADA, confidence=0.25, created_at=day(0)),
        )
        await put(store, ADA, BOB, EVE, HUB, *relations)
        stored = {each.id: each for each in await store.get_relations([each.id for each in relations])}

        async def check(seen: View) -> set[UUID]:
            found = await _edges(store, seen, limit)
            assert [key for key, *_ in found] == sorted(key for key, *_ in found)
            for key, source, target, weight in found:
                assert (source, target) == (stored[key].source_id, stored[key].target_id)
                assert weight == stored[key].confidence
            return {key for key, *_ in found}

        ids = [each.id for each in relations]
        assert await check(view(min_edge_confidence=0)) == {ids[0], ids[2], ids[4], ids[5]}
        assert await check(view(skipped_types={"met_with"})) == {ids[0], ids[2]}
        past = view(day(2), known_at=store.clock.now(), min_edge_confidence=0)
        assert await check(past) == {ids[0], ids[1], ids[2], ids[4], ids[5]}
        assert await check(view(day(2), min_edge_confidence=0)) == {ids[3], ids[4], ids[5]}
