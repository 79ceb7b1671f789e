"""Records that a store reports: name matches, merges, links, contradictions, statistics and feedback."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Final, NamedTuple, Self
from uuid import UUID

import attrs

from graphsearch.columns import Hits
from graphsearch.errors import InvalidInputError, UnknownElementError
from graphsearch.model import validation as check
from graphsearch.model.batches import NO_COUNTERS
from graphsearch.model.elements import ElementKind, Entity, Outcome, Relation
from graphsearch.model.validation import as_tuple, checked, type_name


@attrs.frozen(kw_only=True)
class NameMatch:
    """An entity that has a name, or an alias, that was asked for."""

    name: str
    entity_id: UUID
    alias: bool


@attrs.frozen(kw_only=True, eq=False)
class Named:
    """The entities that names and words of names lead to.

    ``matches`` are by any entity; ``hits`` are those of their entities that hold in a view, by id, and ``entities``
    these entities, one for each hit. ``common`` are the words that were left out, since too many entities have them.
    """

    matches: Sequence[NameMatch]
    hits: Hits
    entities: Sequence[Entity]
    common: Sequence[str] = ()


@attrs.frozen(kw_only=True)
@checked("health record")
class HealthRecord:
    """The health that a graph had at one time, as a scope stores it.

    ``value`` is in [0, 1], None if the graph was too small to judge. ``memories`` and ``entities`` are those that were
    counted; ``size`` is the number of all entities with a word in their texts, by which growth is noticed.
    """

    at: datetime
    value: float | None
    memories: int
    entities: int
    size: int


@attrs.frozen(kw_only=True)
class SurfaceForm:
    """A surface that mentions of an entity have, and memories that hold such mentions, in order of id."""

    entity_id: UUID
    surface: str
    memory_ids: tuple[str, ...] = attrs.field(converter=as_tuple)


@attrs.frozen(kw_only=True)
class SimilarName:
    """An entity with a name, or an alias, like one that was asked for.

    ``name`` is the one that is most like it, in the form in which names are compared; ``similarity`` is that of
    `graphsearch.text.trigrams`.
    """

    name: str
    entity_id: UUID
    similarity: float


@attrs.frozen(kw_only=True)
@checked(
    "merge {0.id}",
    lambda merge: "an entity cannot be merged into itself" if merge.source_id == merge.target_id else None,
    source_name=None,
    target_name=None,
)
class Merge:
    """One entity merged into another: what is stored of it are ids and numbers, never text.

    ``mentions`` and ``claims`` are how many moved from the source to the target, ``relations`` how many unretracted
    ones the source had; behind a gate that may hide, the visible ones of a merge being made, or None. ``undone_at`` is
    None for as long as it stands. ``source_name`` and ``target_name`` are those of now, as a curator shows them; behind
    a gate that may hide, a merged entity has none.
    """

    id: UUID
    source_id: UUID
    target_id: UUID
    created_at: datetime
    mentions: int | None
    claims: int | None
    relations: int | None
    undone_at: datetime | None = None
    source_name: str = attrs.field(default="", eq=False)
    target_name: str = attrs.field(default="", eq=False)

    def uncounted(self) -> Merge:
        """The merge without its counts, which include what is hidden."""
        return attrs.evolve(self, mentions=None, claims=None, relations=None)


def refuse_merge(
    source_id: UUID, target_id: UUID, source: Entity | None, target: Entity | None, *, retype: bool
) -> None:
    """Raise `UnknownElementError` or `InvalidInputError` unless the source can be merged into the target."""
    if source is None or target is None:
        absent = [str(key) for key, entity in ((source_id, source), (target_id, target)) if entity is None]
        raise UnknownElementError(f"no entity {' and no entity '.join(absent)} in this scope")
    check.refuse(
        f"merging {source_id} into {target_id}",
        "an entity cannot be merged into itself" if source_id == target_id else None,
        None if source.merged_into is None else f"the source was merged into {source.merged_into} already",
        None
        if target.merged_into is None
        else "the target was merged into the source: undo that first"
        if target.merged_into == source_id
        else f"the target was merged into {target.merged_into}: merge into that, or undo it first",
        None
        if retype or source.type == target.type
        else f"a {source.type} and a {target.type} cannot be one: correct the type first, or merge with retype",
    )


@attrs.frozen(kw_only=True)
class UndoReport:
    """What an undone merge gave back to its source: numbers of mentions, claims and unretracted relations.

    All are None behind a gate that may hide some of what they count.
    """

    mentions: int | None
    claims: int | None
    relations: int | None
    stayed: int | None
    """Mentions and claims of the target that were written since the merge: they stay with it."""
    forgotten: int | None
    """Mentions and claims that had moved and are gone since."""
    reworded: tuple[UUID, ...] = ()
    """As in `WriteReport`; empty behind such a gate."""

    def uncounted(self) -> UndoReport:
        """The report without its counts, which include what is hidden."""
        return UndoReport(mentions=None, claims=None, relations=None, stayed=None, forgotten=None)


@attrs.frozen(kw_only=True)
@checked(
    "link from {0.from_id!r} to {0.to_id!r}",
    lambda link: "a memory must not be linked to itself" if link.from_id == link.to_id else None,
    type=check.name,
)
class MemoryLink:
    """Somebody's word that two memories have to do with each other; from the one that is linked to the other.

    ``created_at`` is set when it is stored. Raises `InvalidInputError` for a link of a memory to itself.
    """

    from_id: str
    to_id: str
    type: str = attrs.field(default="relates_to", converter=type_name)
    created_at: datetime | None = attrs.field(default=None, eq=False)


@attrs.frozen(kw_only=True)
class Contradiction:
    """Two relations of a functional type from one source to two targets, which hold at one time.

    Claims that say when the one ended or the other began would settle it; these have equal standing. ``one`` has the
    lower id.
    """

    one: Relation
    other: Relation
    ends: tuple[Entity, ...] = attrs.field(default=(), eq=False)
    """Their source and both targets, where a curator has read them."""

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

    @property
    def overlaps(self) -> bool:
        """Whether both hold at one time; False for the same relations as someone sees them for whom one has ended."""
        return self.valid_from is None or self.valid_to is None or self.valid_from < self.valid_to

    @classmethod
    def among(cls, relations: Iterable[Relation]) -> Iterator[Self]:
        """The pairs of some relations of functional types that contradict each other, by (source, type, ids)."""
        groups: dict[tuple[UUID, str], list[Relation]] = {}
        for relation in sorted(relations, key=lambda relation: (relation.source_id, relation.type, relation.id)):
            if relation.retracted_at is None:
                groups.setdefault((relation.source_id, relation.type), []).append(relation)
        for group in groups.values():
            for one, other in combinations(group, 2):
                found = cls(one=one, other=other)
                if one.target_id != other.target_id and found.overlaps:
                    yield found


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
    counters: Mapping[str, int] = NO_COUNTERS


class ElementRef(NamedTuple):
    """A reference to any element of a scope: its kind and its id as text."""

    kind: ElementKind
    id: str

    @property
    def key(self) -> UUID | str:
        """The id in the type of its element. Raises `InvalidInputError` if it is not a valid id."""
        if self.kind is ElementKind.MEMORY:
            return self.id
        try:
            return UUID(self.id)
        except ValueError as error:
            raise InvalidInputError(f"{self.kind} {self.id!r}", ["the id must be a UUID"]) from error


def _elements_fault(injection: Injection) -> str | None:
    return next((fault for each in injection.elements if (fault := check.text("id of an element", each.id))), None)


@attrs.frozen(kw_only=True)
@checked("injection", _elements_fault, id=check.key, session_id=check.key)
class Injection:
    """The elements surfaced to a session at one time: ids only, never text of the graph."""

    id: str
    session_id: str
    principal: str
    """`Principal.qualified_id` of whom they were surfaced to, who owns the session."""
    created_at: datetime
    tokens: int
    elements: tuple[ElementRef, ...] = attrs.field(converter=as_tuple)


@attrs.frozen(kw_only=True)
class FeedbackReport:
    """The effect of an outcome on each surfaced element."""

    applied: tuple[ElementRef, ...] = ()
    replaced: tuple[ElementRef, ...] = ()
    repeated: tuple[ElementRef, ...] = ()
    missing: tuple[ElementRef, ...] = ()
    """Surfaced, and deleted since."""
    denied: int = 0


ALPHA: Final = 0.1
"""The share of the latest outcome in a feedback weight: w ← α·outcome + (1 − α)·w."""


@attrs.frozen(kw_only=True)
class OutcomeRecord:
    """One entry of an element's feedback history; folding the outcomes in order of ``seq`` gives its weight."""

    element: ElementRef
    session_id: str
    seq: int
    outcome: Outcome
