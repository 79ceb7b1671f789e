"""What is written to a store in one transaction, and the report of a write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.model import validation as check
from graphsearch.model.converters import as_tuple
from graphsearch.model.elements import Claim, Entity, Memory, Mention, Relation

Vector = NDArray[np.float32]

MAX_WORD_WEIGHT: Final = 1_000.0
"""The most that one word of an entity counts; 1 is a word that stands once in its name or its description."""

Group = tuple[UUID, str, UUID | None]
"""Claims that are folded together: of one source, type and target, or of all targets, where the type is functional."""

_NO_VECTORS: Final[Mapping[Any, Vector]] = MappingProxyType({})
_NO_WORDS: Final[Mapping[UUID, Mapping[str, float]]] = MappingProxyType({})
NO_COUNTERS: Final[Mapping[str, int]] = MappingProxyType({})


@attrs.frozen(kw_only=True)
class Batch:
    """What one transaction writes.

    * ``entities`` and ``relations`` replace those of the same id, but never their feedback or ``created_at``.
    * ``aliases`` of an entity are those that it is given. It shows more: `graphsearch.claims.naming` says which.
    * ``named`` are entities that exist through their mentions alone. They are written as ``entities`` are, and marked:
      their names are forgotten with the mentions that had them, and one of unknown type ("concept", "unknown") shows
      the type that the first of its mentions tells, by (occurred_at, memory id). ``entities`` takes the mark off.
    * What names an entity that was merged into another is written of that other.
    * ``words``, by word with a weight above 0 each, are what an entity of this batch is found by beside its name, its
      aliases and its description: what stands inside a function, for instance. They are searched and never shown. An
      entity written without any keeps those that it has; given none, it loses them.
    * ``counters`` are added to those of the scope, by name: what an ingest counts, it counts if and only if it writes.
    * ``memories`` replace those of the same id together with everything they proved: a memory's mentions and claims
      are exactly the ones in this batch. Relations are then folded from the claims again.
    * ``vectors`` are of entities (by UUID), memories (by their text id) and relations' facts (by UUID). An element
      written without one keeps the vector it has, unless mentions tell another name or type of it.
    """

    entities: tuple[Entity, ...] = attrs.field(default=(), converter=as_tuple)
    named: tuple[Entity, ...] = attrs.field(default=(), converter=as_tuple)
    relations: tuple[Relation, ...] = attrs.field(default=(), converter=as_tuple)
    memories: tuple[Memory, ...] = attrs.field(default=(), converter=as_tuple)
    mentions: tuple[Mention, ...] = attrs.field(default=(), converter=as_tuple)
    claims: tuple[Claim, ...] = attrs.field(default=(), converter=as_tuple)
    vectors: Mapping[Any, Vector] = _NO_VECTORS
    words: Mapping[UUID, Mapping[str, float]] = _NO_WORDS
    counters: Mapping[str, int] = NO_COUNTERS

    def __attrs_post_init__(self) -> None:
        faults = (check.text("name", name) or check.number(name, by, 0) for name, by in self.counters.items())
        check.refuse("counters", *faults)
        check.refuse("words", *_word_faults(self))


def _word_faults(batch: Batch) -> Iterable[str | None]:
    if not batch.words:
        return
    written = {entity.id for entity in (*batch.entities, *batch.named)}
    for key, words in batch.words.items():
        yield None if key in written else f"no entity {key} is in the batch"
        for word, weight in words.items():
            yield check.text(f"a word of {key}", word)
            yield check.number(f"the weight of {word!r}", weight, 0.0, MAX_WORD_WEIGHT)


@attrs.frozen(kw_only=True)
class WriteReport:
    """What a write or a deletion changed: numbers of elements.

    The numbers of what was removed are of forgetting and deleting alone; a write counts what it wrote.
    """

    entities: int = 0
    relations: int = 0
    memories: int = 0
    relations_retracted: int = 0
    entities_removed: int = 0
    mentions_removed: int = 0
    claims_removed: int = 0
    links_removed: int = 0
    """Links between memories, and marks of entities as distinct."""
    references_removed: int = 0
    """Elements that are gone, taken out of the log of what was surfaced."""
    reworded: tuple[UUID, ...] = ()
    """Entities that have another name or type because of what their mentions tell by now, in order of id.

    The vectors of their texts went: whoever has the embedder writes new ones.
    """


@attrs.frozen(kw_only=True)
class Given:
    """An entity as it was given: with its own type, and its own aliases alone.

    ``named`` tells that it exists through its mentions.
    """

    entity: Entity
    named: bool
