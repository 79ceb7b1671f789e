"""Embed and write new elements, embed facts, and remove entities that nothing mentions any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar
from uuid import UUID

import attrs
import numpy as np

from graphsearch._support.observing import stage
from graphsearch.claims.naming import UNKNOWN_TYPES
from graphsearch.errors import UnknownScopeError
from graphsearch.ingest.extract.extraction import Described
from graphsearch.ingest.write.ledger import or_nothing
from graphsearch.ingest.write.options import UNCHANGED, Intake
from graphsearch.ingest.write.permission import Permission
from graphsearch.model import Action, Batch, Entity, Memory, Vector, WriteReport
from graphsearch.protocols import Embedder, InputType
from graphsearch.stores.graph import GraphStore
from graphsearch.text.bm25 import embedding_text, stepped

_TEXTS: Final = 256
"""Texts embedded at a time."""
_IDS: Final = 1000
"""Elements read or removed at a time."""

T = TypeVar("T")
Element = TypeVar("Element", Entity, Memory)


@attrs.define(eq=False)
class Writer:
    """Writes to one scope within a permission, and counts changes. Without an embedder nothing is embedded.

    A change that is not allowed raises `AccessDeniedError` before anything of its transaction is written.
    """

    store: GraphStore
    embedder: Embedder | None
    permission: Permission
    intake: Intake = UNCHANGED
    entities: int = 0
    relations: int = 0
    removed: int = 0
    embedded: int = 0
    needed: set[UUID] = attrs.field(factory=set)
    """Entities that this ingest describes or refers to: they stay while it runs, whatever names them."""
    _written: set[UUID] = attrs.field(factory=set)
    _lost: set[UUID] = attrs.field(factory=set)
    _bound: bool = False

    async def begin(self) -> UUID:
        """Create the scope if it does not exist, so that names can be looked up in it; the key of its ids."""
        try:
            return await self.store.id_key()
        except UnknownScopeError:
            await self.store.write(Batch())
            return await self.store.id_key()

    async def describe(self, described: Sequence[Described], *, anew: bool) -> None:
        """Write the entities that are new or whose description changed; ``anew`` embeds the others as well."""
        entities = [each.entity for each in described]
        self.needed.update(entity.id for entity in entities)
        stored = await self._stored(entities)
        kept = [_kept(entity, stored.get(entity.id)) for entity in entities]
        words = await self._words(described, stored)
        another = [entity for entity in kept if entity != stored.get(entity.id) or entity.id in words]
        await self.permission.to_describe(another, stored)
        vectors = await self._vectors(kept, stored, anew=anew)
        changed = tuple(
            entity for entity in kept if entity != stored.get(entity.id) or entity.id in vectors or entity.id in words
        )
        if changed:
            self.entities += len(changed)
            await self._write(Batch(entities=changed, vectors=vectors, words=words, embedder=self._model))

    async def write(
        self, batch: Batch, *, anew: bool, embed: Sequence[Memory], stale: Callable[[Entity], bool]
    ) -> None:
        """Write a batch of memories, mentions and claims in one transaction; embed those of ``embed`` with a new text.

        The batch's ``named`` entities are written if they do not exist, or if the existing one is ``stale``: described
        by a file that does not describe it any more. ``anew`` embeds known elements as well. Entities that nothing
        names after it are removed in the same transaction.
        """
        batch = await self.intake.batch(batch)
        named = {entity.id: entity for entity in batch.named}
        stored = await self._stored([entity for id_, entity in named.items() if id_ not in self._written])
        fresh = [
            _kept(entity, stored.get(id_))
            for id_, entity in named.items()
            if id_ not in self._written
            # new, stale, or to be embedded anew where no file describes it
            and ((old := stored.get(id_)) is None or stale(old) or (anew and "source" not in old.attributes))
        ]
        await self.permission.to_write(attrs.evolve(batch, named=fresh), stored)
        known = {memory.id: memory for memory in await or_nothing(self.store.get_memories([each.id for each in embed]))}
        # mentions alone give an unknown type: the entity has the stored one once it is written
        typed = [
            attrs.evolve(each, type=stored[each.id].type) if each.type in UNKNOWN_TYPES and each.id in stored else each
            for each in fresh
        ]
        vectors = await self._vectors(typed, stored, anew=True) | await self._vectors(embed, known, anew=anew)
        before = await or_nothing(self.store.list_mentions(memory_ids=[memory.id for memory in batch.memories]))
        mentioned = {mention.entity_id for mention in batch.mentions}
        lost = {mention.entity_id for mention in before} - mentioned
        entities = await self.store.get_entities(sorted(lost - self.needed)) if lost - self.needed else ()
        prune = [entity.id for entity in await self.permission.removable(entities)]
        await self._write(attrs.evolve(batch, named=fresh, vectors=vectors, prune=prune, embedder=self._model))
        self.entities += len(fresh)
        self._written.update(named)
        self._written -= lost
        self._lost = (self._lost | lost) - mentioned

    async def forget(self, memory_ids: Sequence[str]) -> None:
        """Forget memories and whatever only they proved."""
        await self.permission.to_forget(memory_ids)
        for some in chunks(memory_ids, _IDS):
            await self._follow(await self.store.forget(some))

    async def prune(self) -> None:
        """Remove entities that rewritten memories no longer mention, if nothing else mentions or relates to them.

        These are the ones that could not go when their last mention did: they were needed, are part of a merge, or may
        not be removed, which raises `AccessDeniedError`.
        """
        for some in chunks(sorted(self._lost), _IDS):
            named = {mention.entity_id for mention in await self.store.list_mentions(entity_ids=some)}
            alone = [id_ for id_ in some if id_ not in named]
            degrees = await self.store.degrees(alone) if alone else {}
            gone = await self.store.get_entities([id_ for id_ in alone if not degrees.get(id_)])
            if gone:
                await self.permission.demand(Action.FORGET, gone)
                await self.store.delete(entities=[entity.id for entity in gone])
                self.removed += len(gone)

    async def settle(self) -> None:
        """Let the store update its indexes after writes, including those of an interrupted run."""
        with suppress(UnknownScopeError):  # nothing was ever written
            await self.store.settle()

    async def _stored(self, entities: Sequence[Entity]) -> dict[UUID, Entity]:
        found = await or_nothing(self.store.get_entities([entity.id for entity in entities]))
        return {entity.id: entity for entity in found}

    async def _words(
        self, described: Sequence[Described], stored: Mapping[UUID, Entity]
    ) -> dict[UUID, Mapping[str, float]]:
        """The weighted words of entities, in addition to their texts, for those whose words changed."""
        given = {each.entity.id: each.words for each in described if each.words is not None}
        known = [id_ for id_ in given if id_ in stored]
        before = await self.store.words(known) if known else {}
        after = {id_: {word: stepped(weight) for word, weight in words.items()} for id_, words in given.items()}
        return {id_: words for id_, words in after.items() if words != before.get(id_, {})}

    async def _vectors(
        self, elements: Sequence[Element], stored: Mapping[Any, Element], *, anew: bool
    ) -> dict[UUID | str, Vector]:
        """Vectors of the elements whose text is new, or of all if ``anew``."""
        if self.embedder is None:
            return {}
        texts: dict[UUID | str, str] = {
            element.id: text
            for element in elements
            if (text := embedding_text(element)).strip()
            and (anew or (old := stored.get(element.id)) is None or embedding_text(old) != text)
        }
        vectors: dict[UUID | str, Vector] = {}
        for some in chunks(list(texts), _TEXTS):
            rows = await self.embedder.embed([texts[id_] for id_ in some], input_type="document")
            if not self._bound:
                await self.store.bind_embedder(self.embedder.name, rows.shape[1])
                self._bound = True
            vectors.update(zip(some, rows, strict=True))
        self.embedded += len(vectors)
        return vectors

    async def _write(self, batch: Batch) -> None:
        with stage("writing"):
            await self._follow(await self.store.write(batch))

    async def _follow(self, report: WriteReport) -> None:
        """Count the changes of a write or a forgetting, and embed the entities whose text it changed."""
        self.relations += report.relations + report.relations_retracted
        self.removed += report.entities_removed
        reworded = await self.store.get_entities(report.reworded) if report.reworded else ()
        if vectors := await self._vectors(reworded, {}, anew=True):
            texts = {each.id: embedding_text(each) for each in reworded if each.id in vectors}
            await self.store.write(Batch(vectors=vectors, embedded=texts, embedder=self._model))

    @property
    def _model(self) -> str:
        """The model of the vectors written: a scope may be changed to another one meanwhile."""
        return "" if self.embedder is None else self.embedder.name


def chunks(items: Sequence[T], size: int) -> Iterable[Sequence[T]]:
    """The items, at most ``size`` at a time."""
    return (items[start : start + size] for start in range(0, len(items), size))


def _kept(entity: Entity, stored: Entity | None) -> Entity:
    """The entity with the stored values of the fields that an ingest does not set."""
    if stored is None:
        return entity
    return attrs.evolve(
        entity,
        feedback_weight=stored.feedback_weight,
        created_at=stored.created_at,
        merged_into=stored.merged_into,
    )


_FACTS: Final = 2_000
"""Facts written in one transaction."""


async def embed_facts(store: GraphStore, embedder: Embedder) -> int:
    """Embed the facts of a scope that have no vector, and return their number. Blank facts get no vector.

    Raises `EmbeddingModelError` if the scope has another model's vectors, and what the store and the embedder raise:
    then the vectors written so far stay, and the next call continues from there.
    """
    count, last = 0, None
    while waiting := await or_nothing(store.unembedded_facts(after=last, limit=_FACTS)):
        last = waiting[-1].id
        facts = {each.id: text for each in waiting if (text := embedding_text(each)).strip()}
        if facts:
            vectors: dict[UUID | str, Vector] = {}
            for some in chunks(list(facts), _TEXTS):
                rows = await embedder.embed([facts[id_] for id_ in some], input_type="document")
                vectors.update(zip(some, rows, strict=True))
            await store.bind_embedder(embedder.name, len(next(iter(vectors.values()))))
            await store.write(Batch(vectors=vectors, embedded=facts, embedder=embedder.name))
            count += len(facts)
    if count:
        await store.settle()
    return count


# -- the embedder of one ingest ----------------------------------------------------------------------------------------

_MOST_KEPT: Final = 1 << 14
"""Maximum texts whose vectors are kept."""
_LONGEST_KEPT: Final = 1_000
"""Maximum characters of a text whose vector is kept: a name or a sentence, no document."""


class DistinctTexts:
    """An embedder that passes each of the last texts on to another one only once.

    Names are embedded to compare them, and again to store them; all relations of a sentence have it as their fact.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[tuple[InputType, str], Vector] = {}

    @property
    def name(self) -> str:
        """The name of the other embedder."""
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        """The dimensions of the other embedder."""
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str], *, input_type: InputType) -> Vector:
        """As the other embedder, and raises what it raises."""
        found = {text: self._kept[input_type, text] for text in texts if (input_type, text) in self._kept}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new or not texts:
            rows = await self._embedder.embed(new, input_type=input_type)
            for text, vector in zip(new, rows, strict=True):
                found[text] = vector
                if len(text) <= _LONGEST_KEPT:
                    self._kept[input_type, text] = vector.copy()  # a row alone would hold all rows of its matrix
            for key in list(self._kept)[: max(0, len(self._kept) - _MOST_KEPT)]:
                del self._kept[key]
            if not texts:
                return rows
        return np.stack([found[text] for text in texts])
