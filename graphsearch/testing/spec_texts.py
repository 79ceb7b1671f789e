"""Hostile texts: kept unchanged, found only by themselves, and never interpreted as a pattern or a command."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from graphsearch.model import ElementKind, ElementRef, Entity, Memory, Outcome, Relation, RelationType
from graphsearch.model.identity import normalise_name
from graphsearch.protocols import GraphStore
from graphsearch.testing.fakes import NOON
from graphsearch.testing.samples import (
    ADA,
    BOB,
    HOSTILE_TEXTS,
    claim,
    ids_of,
    matching,
    mention,
    person,
    put,
    ref,
    relation,
    view,
)
from graphsearch.testing.spec import StoreSpec


class TextsSpec(StoreSpec):
    """Every method that takes text."""

    async def test_texts_come_back_as_they_were(self, store: GraphStore) -> None:
        entities, memories, relations = [], [], []
        for number, text in enumerate(HOSTILE_TEXTS):
            nested = {text: [text, {"a": text}], "source": text, "owner": text, "sensitivity": text}
            entity = Entity(
                type=f"type_{number}",
                name=text,
                description=text,
                aliases=(text, f"alias {text}"),
                labels=(text,),
                attributes=nested,
                created_at=NOON,
            )
            entities.append(entity)
            relations.append(
                Relation(
                    source_id=ADA.id,
                    type=f"type_{number}",
                    target_id=entity.id,
                    fact=text,
                    labels=(text,),
                    attributes=nested,
                    created_at=NOON,
                )
            )
            memories.append(
                Memory(
                    id=text[:500],
                    text=text,
                    subject=text,
                    speaker=text,
                    session_id=text,
                    source=text,
                    labels=(text,),
                    attributes=nested,
                    created_at=NOON,
                )
            )
        mentions = [mention(memory, entity) for memory, entity in zip(memories, entities, strict=True)]
        claims = [
            claim(memory, entity, ADA, "says", fact=memory.text, extractor=memory.text)
            for memory, entity in zip(memories, entities, strict=True)
        ]
        await put(store, ADA, *entities, *relations, *memories, *mentions, *claims)
        assert await store.get_entities([each.id for each in entities]) == entities
        assert await store.get_relations([each.id for each in relations]) == relations
        for memory, named, claimed in zip(memories, mentions, claims, strict=True):
            assert await store.get_memories([memory.id]) == [memory]
            assert await store.list_mentions(memory_ids=[memory.id]) == [named]
            assert await store.list_claims(memory_ids=[memory.id]) == [claimed]
            assert [each.id for each in await store.list_memories(source=memory.source)] == [memory.id]
        assert [each.id for each in await store.list_memories(limit=1000)] == sorted(each.id for each in memories)

    async def test_names_find_what_is_called_so_and_nothing_else(self, store: GraphStore) -> None:
        entities = [Entity(type=f"type_{number}", name=text) for number, text in enumerate(HOSTILE_TEXTS)]
        await put(store, *entities)
        for text in HOSTILE_TEXTS:
            called = [each.id for each in entities if _same(each.name, text)]
            assert [each.entity_id for each in await store.find_names([text])] == sorted(called)
        assert await store.find_names(["a%", "a_", "foo%", "\\", "", "\0", "nothing"]) == []

    async def test_any_text_is_a_valid_question(self, store: GraphStore) -> None:
        await put(store, *(Memory(id=f"m{number}", text=text) for number, text in enumerate(HOSTILE_TEXTS)))
        for text in (*HOSTILE_TEXTS, "", " ", "\0", "a\0b", "\ud800", "!" * 2000, "the of and"):
            async with store.snapshot():
                hits = await store.search_lexical(ElementKind.MEMORY, text, limit=3, view=view())
                assert len(ids_of(store, ElementKind.MEMORY, hits)) <= 3

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

    async def test_times_at_the_ends_of_the_calendar(self, store: GraphStore) -> None:
        first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
        east, west = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))
        memories = (
            Memory(id="a", occurred_at=first.astimezone(east)),
            Memory(id="b", occurred_at=last.astimezone(west)),
        )
        long = Relation(source_id=ADA.id, type="knows", target_id=BOB.id, valid_from=first, valid_to=last)
        await put(store, ADA, BOB, long, *memories)
        assert [each.occurred_at for each in await store.get_memories(["a", "b"])] == [first, last]
        assert [(each.valid_from, each.valid_to) for each in await store.get_relations([long.id])] == [(first, last)]


def _same(one: str, other: str) -> bool:
    return normalise_name(one).casefold() == normalise_name(other).casefold()
