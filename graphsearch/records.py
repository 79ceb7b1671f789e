"""What goes into a store and what it reports back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch import validation as check
from graphsearch.errors import InvalidInputError
from graphsearch.identity import snake_case
from graphsearch.model import Claim, ElementKind, Entity, Memory, Mention, Outcome, Relation

Vector = NDArray[np.float32]

MAX_WORD_WEIGHT: Final = 1_000.0
"""The most that one word of an entity counts; 1 is a word that stands once in its name or its description."""

Group = tuple[UUID, str, UUID | None]
"""Claims that are folded together: of one source, type and target, or of all targets, where the type is functional."""

_NO_VECTORS: Final[Mapping[Any, Vector]] = MappingProxyType({})
_NO_WORDS: Final[Mapping[UUID, Mapping[str, float]]] = MappingProxyType({})
_NO_COUNTERS: Final[Mapping[str, int]] = MappingProxyType({})


def _items(values: Iterable[Any]) -> tuple[Any, ...]:
    """Any iterable as a tuple; `tuple` itself, as a converter, is a type that mypy cannot follow."""
    return tuple(values)


def _type_name(value: str) -> str:
    """The name of a type as it is stored; what is no text is left to the checks."""
    return snake_case(value) if isinstance(value, str) else value


@attrs.frozen(kw_only=True)
class Batch:
    """What one transaction writes.

    * ``entities`` and ``relations`` replace those of the same id, but never their feedback or ``created_at``.
    * ``aliases`` of an entity are those that it is given. It shows more: `graphsearch.naming` says which.
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

    entities: tuple[Entity, ...] = attrs.field(default=(), converter=_items)
    named: tuple[Entity, ...] = attrs.field(default=(), converter=_items)
    relations: tuple[Relation, ...] = attrs.field(default=(), converter=_items)
    memories: tuple[Memory, ...] = attrs.field(default=(), converter=_items)
    mentions: tuple[Mention, ...] = attrs.field(default=(), converter=_items)
    claims: tuple[Claim, ...] = attrs.field(default=(), converter=_items)
    vectors: Mapping[Any, Vector] = _NO_VECTORS
    words: Mapping[UUID, Mapping[str, float]] = _NO_WORDS
    counters: Mapping[str, int] = _NO_COUNTERS

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


class ElementRef(NamedTuple):
    """Any element of a scope: its kind and its id as text."""

    kind: ElementKind
    id: str

    @property
    def key(self) -> UUID | str:
        """The id as the element itself has it. Raises `InvalidInputError` where it cannot be one."""
        if self.kind is ElementKind.MEMORY:
            return self.id
        try:
            return UUID(self.id)
        except ValueError as error:
            raise InvalidInputError(f"{self.kind} {self.id!r}", ["the id must be a UUID"]) from error


@attrs.frozen(kw_only=True)
class Injection:
    """What was surfaced to a session: ids only, never text of the graph."""

    id: str
    session_id: str
    principal: str
    created_at: datetime
    tokens: int
    elements: tuple[ElementRef, ...] = attrs.field(converter=_items)


@attrs.frozen(kw_only=True)
class FeedbackReport:
    """What an outcome did, element by element."""

    applied: tuple[ElementRef, ...] = ()
    replaced: tuple[ElementRef, ...] = ()
    repeated: tuple[ElementRef, ...] = ()
    missing: tuple[ElementRef, ...] = ()
    """Surfaced once, deleted since."""
    denied: int = 0


@attrs.frozen(kw_only=True)
class OutcomeRecord:
    """One line of an element's history; folding the outcomes in order of ``seq`` gives its weight."""

    element: ElementRef
    session_id: str
    seq: int
    outcome: Outcome


@attrs.frozen(kw_only=True)
class NameMatch:
    """An entity that has a name, or an alias, that was asked for."""

    name: str
    entity_id: UUID
    alias: bool


@attrs.frozen(kw_only=True)
class Saying:
    """A surface that mentions of an entity have, and memories that hold such mentions, in order of id."""

    entity_id: UUID
    surface: str
    memory_ids: tuple[str, ...] = attrs.field(converter=_items)


@attrs.frozen(kw_only=True)
class SimilarName:
    """An entity with a name, or an alias, like one that was asked for.

    ``name`` is the one that is most like it, in the form in which names are compared; ``similarity`` is that of
    `graphsearch.query.trigrams`.
    """

    name: str
    entity_id: UUID
    similarity: float


@attrs.frozen(kw_only=True, order=True)
class SimilarPair:
    """Two entities of one type that have similar names, or aliases; ``one_id`` is the lower id."""

    one_id: UUID
    other_id: UUID
    similarity: float


@attrs.frozen(kw_only=True)
class Given:
    """An entity as it was given: with its own type, and its own aliases alone.

    ``named`` tells that it exists through its mentions.
    """

    entity: Entity
    named: bool


@attrs.frozen(kw_only=True)
class Merge:
    """One entity merged into another: ids and numbers, never text.

    ``mentions`` and ``claims`` are how many moved from the source to the target, ``relations`` how many unretracted
    ones the source had. ``undone_at`` is None for as long as it stands.
    """

    id: UUID
    source_id: UUID
    target_id: UUID
    created_at: datetime
    mentions: int
    claims: int
    relations: int
    undone_at: datetime | None = None


@attrs.frozen(kw_only=True)
class UndoReport:
    """What an undone merge gave back to its source: numbers of mentions, claims and unretracted relations."""

    mentions: int
    claims: int
    relations: int
    stayed: int
    """Mentions and claims of the target that were written since the merge: they stay with it."""
    forgotten: int
    """Mentions and claims that had moved and are gone since."""
    reworded: tuple[UUID, ...] = ()
    """As in `WriteReport`."""


@attrs.frozen(kw_only=True)
class MemoryLink:
    """Somebody's word that two memories have to do with each other; from the one that is linked to the other.

    ``created_at`` is set when it is stored. Raises `InvalidInputError` for a link of a memory to itself.
    """

    from_id: str
    to_id: str
    type: str = attrs.field(default="relates_to", converter=_type_name)
    created_at: datetime | None = attrs.field(default=None, eq=False)

    def __attrs_post_init__(self) -> None:
        check.refuse(
            f"link from {self.from_id!r} to {self.to_id!r}",
            check.text("from_id", self.from_id),
            check.text("to_id", self.to_id),
            check.text("type", self.type),
            check.instant("created_at", self.created_at),
            "a memory must not be linked to itself" if self.from_id == self.to_id else None,
        )


@attrs.frozen(kw_only=True)
class Contradiction:
    """Two relations of a functional type from one source to two targets, which hold at one time.

    Claims that say when the one ended or the other began would settle it; these have equal standing. ``one`` has the
    lower id.
    """

    one: Relation
    other: Relation

    @property
    def source_id(self) -> UUID:
        """Of both."""
        return self.one.source_id

    @property
    def type(self) -> str:
        """Of both."""
        return self.one.type

    @property
    def valid_from(self) -> datetime | None:
        """From when on both hold."""
        starts = [each.valid_from for each in (self.one, self.other) if each.valid_from]
        return max(starts, default=None)

    @property
    def valid_to(self) -> datetime | None:
        """Until when both hold."""
        ends = [each.valid_to for each in (self.one, self.other) if each.valid_to]
        return min(ends, default=None)


@attrs.frozen(kw_only=True)
class Community:
    """Two or more entities. No entity is in two communities, and one that has no relation is in none.

    ``id`` is the UUIDv5 of the least id among the members it was found with: it stays for as long as that member does.
    ``members`` are in order of id, ``strengths`` of each of them the sum of the weights of its relations when it was
    found, from which a later search tells whose relations changed. ``density`` is the share of the pairs of members
    that have a relation, in (0, 1]. ``top`` are the five members with the most neighbours inside of the community, ties
    by importance, name and id; ``label`` is the names of the first three.
    """

    id: UUID
    members: tuple[UUID, ...] = attrs.field(converter=_items)
    strengths: tuple[float, ...] = attrs.field(converter=_items)
    density: float
    top: tuple[UUID, ...] = attrs.field(converter=_items)
    label: str

    def __attrs_post_init__(self) -> None:
        ordered = all(one < other for one, other in pairwise(self.members))
        check.refuse(
            f"community {self.id}",
            None if len(self.members) > 1 else "must have two members or more",
            None if ordered else "members must be distinct and in order of id",
            None
            if len(self.strengths) == len(self.members)
            else f"strengths must have {len(self.members)} items, not {len(self.strengths)}",
            next((fault for each in self.strengths if (fault := check.number("each of strengths", each, 0))), None),
            check.unit("density", self.density),
            None if set(self.top) <= set(self.members) else "each of top must be a member",
            None if len(set(self.top)) == len(self.top) else "top must be distinct",
            check.text("label", self.label, empty=True),
        )

    @property
    def size(self) -> int:
        """How many members it has."""
        return len(self.members)

    def without(self, entities: Collection[UUID]) -> Community | None:
        """The community when some entities left it, otherwise as it was found; None when fewer than two stay."""
        stay = [place for place, member in enumerate(self.members) if member not in entities]
        if len(stay) == self.size:
            return self
        if len(stay) < 2:  # noqa: PLR2004 - a community is of two
            return None
        return attrs.evolve(
            self,
            members=[self.members[place] for place in stay],
            strengths=[self.strengths[place] for place in stay],
            top=[member for member in self.top if member not in entities],
        )


@attrs.frozen(kw_only=True)
class Statistics:
    """Numbers of a scope; ``counters`` are the sums of what batches counted."""

    entities: int
    relations: int
    memories: int
    claims: int
    mentions: int
    entities_by_type: Mapping[str, int]
    relations_by_type: Mapping[str, int]
    embedder: str | None
    dimensions: int | None
    max_degree: int
    mean_degree: float
    counters: Mapping[str, int] = _NO_COUNTERS
