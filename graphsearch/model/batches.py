"""What is written to a store in one transaction, and the report of a write."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.model import validation as check
from graphsearch.model.elements import Claim, Entity, Memory, Mention, Relation
from graphsearch.model.validation import as_tuple, checked

Vector = NDArray[np.float32]

MAX_WORD_WEIGHT: Final = 1_000.0
"""Upper bound of the weight of a word of an entity; a word that occurs once in its name or description has weight 1."""

Group = tuple[UUID, str, UUID | None]
"""The key of claims that are folded together: (source, type, target), with target None if the type is functional."""

_NO_VECTORS: Final[Mapping[Any, Vector]] = MappingProxyType({})
_NO_TEXTS: Final[Mapping[Any, str]] = MappingProxyType({})
_NO_WORDS: Final[Mapping[UUID, Mapping[str, float]]] = MappingProxyType({})
NO_COUNTERS: Final[Mapping[str, int]] = MappingProxyType({})


def _key_fault(batch: Batch) -> str | None:
    strange = [key for key in batch.vectors if not isinstance(key, (UUID, str))]
    return f"a key of vectors must be a UUID or the id of a memory, not {strange[0]!r}" if strange else None


def _counter_fault(batch: Batch) -> str | None:
    faults = (check.text("name", name) or check.count(name, by) for name, by in batch.counters.items())
    return next((f"counters: {fault}" for fault in faults if fault), None)


def _word_fault(batch: Batch) -> str | None:
    written = {entity.id for entity in (*batch.entities, *batch.named)} if batch.words else ()
    for key, words in batch.words.items():
        if key not in written:
            return f"words: no entity {key} is in the batch"
        if fault := check.mapping(f"words of {key}", words):
            return fault
        for word, weight in words.items():
            weighed = check.number(f"the weight of {word!r}", weight, 0.0, MAX_WORD_WEIGHT)
            if fault := check.text(f"a word of {key}", word) or weighed:
                return fault
    return None


_BY_FIELD: Final[Mapping[str, Any]] = {
    "entities": Entity,
    "named": Entity,
    "relations": Relation,
    "memories": Memory,
    "mentions": Mention,
    "claims": Claim,
    "prune": UUID,
    **dict.fromkeys(("vectors", "embedded", "words", "counters"), check.mapping),
}


@attrs.frozen(kw_only=True)
@checked("batch", _key_fault, _counter_fault, _word_fault, **_BY_FIELD)
class Batch:
    """The elements that one transaction writes.

    * ``entities`` and ``relations`` replace those of the same id, but never their feedback or ``created_at``.
    * ``aliases`` of an entity are the asserted ones; the stored entity may have more, see `graphsearch.claims.naming`.
    * ``named`` are entities that exist only through their mentions. They are written like ``entities`` and marked:
      their names are removed with the mentions that used them, and an entity of unknown type ("thing", "concept")
      takes its type from its first mention that has one, by (occurred_at, memory id). Writing an entity as one of
      ``entities`` removes the mark.
    * An element that refers to a merged entity is written as if it referred to the entity it was merged into.
    * ``words`` are additional search terms of entities of this batch, by word with a weight above 0: the words inside
      of a function, for instance. They are searched and never shown. An entity without an entry keeps its words; an
      empty entry removes them.
    * ``prune`` are entities that are removed in the same transaction if nothing names them after it: no mention, no
      merge, and no relation but retracted ones, which go with them.
    * ``counters`` are added to the counters of the scope, by name, in the same transaction.
    * ``memories`` replace those of the same id and everything these proved: a memory's mentions and claims are exactly
      the ones in this batch. Relations are then folded from the claims again.
    * ``vectors`` belong to entities (by UUID), memories (by their id) and facts of relations (by UUID). An element
      written without a vector keeps its vector, unless its mentions give it another name or type.
    * ``embedded`` are the texts that vectors of stored elements were made of, by the keys of ``vectors``. If an element
      has another text by then, or is gone, its vector is left out.
    * ``embedder`` is the model of the vectors: `EmbeddingModelError` if the scope has another by then. Without it only
      their length is compared.
    """

    entities: tuple[Entity, ...] = attrs.field(default=(), converter=as_tuple)
    named: tuple[Entity, ...] = attrs.field(default=(), converter=as_tuple)
    relations: tuple[Relation, ...] = attrs.field(default=(), converter=as_tuple)
    memories: tuple[Memory, ...] = attrs.field(default=(), converter=as_tuple)
    mentions: tuple[Mention, ...] = attrs.field(default=(), converter=as_tuple)
    claims: tuple[Claim, ...] = attrs.field(default=(), converter=as_tuple)
    prune: tuple[UUID, ...] = attrs.field(default=(), converter=as_tuple)
    vectors: Mapping[Any, Vector] = _NO_VECTORS
    embedded: Mapping[Any, str] = _NO_TEXTS
    words: Mapping[UUID, Mapping[str, float]] = _NO_WORDS
    counters: Mapping[str, int] = NO_COUNTERS
    embedder: str = ""


@attrs.frozen(kw_only=True)
class WriteReport:
    """Counts of the elements that a write or a deletion changed.

    Only forgetting, deleting and pruning count removed elements.
    """

    entities: int = 0
    relations: int = 0
    memories: int = 0
    relations_retracted: int = 0
    entities_removed: int = 0
    mentions_removed: int = 0
    claims_removed: int = 0
    links_removed: int = 0
    """Links between memories, and marks that two entities are distinct."""
    references_removed: int = 0
    """References to deleted elements, removed from the injection log."""
    reworded: tuple[UUID, ...] = ()
    """Entities whose name or type changed with their mentions, in order of id.

    Their vectors were removed: the caller embeds their texts again and writes new vectors.
    """


@attrs.frozen(kw_only=True)
class AssertedEntity:
    """An entity as it was given: with its own type, and its own aliases alone.

    ``named`` tells that it exists through its mentions.
    """

    entity: Entity
    named: bool
