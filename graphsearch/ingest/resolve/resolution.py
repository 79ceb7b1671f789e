"""What resolution is asked, what it asks of a store, and what it answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Protocol
from uuid import UUID

import attrs

from graphsearch.columns import Hits, Keys
from graphsearch.model import ElementKind, Entity, NameMatch, SimilarName, Vector, View
from graphsearch.model import validation as check
from graphsearch.model.extracted import Surface
from graphsearch.protocols import Clock


class Stage(StrEnum):
    """What decided, cheap to dear (design 6)."""

    ID = "id"
    ALIAS = "alias"
    NAME_PART = "name_part"
    TRIGRAM = "trigram"
    EMBEDDING = "embedding"
    LLM = "llm"
    CREATE = "create"


@attrs.frozen(kw_only=True)
class ResolutionOptions:
    """From where on two names are one; similarities in [0, 1].

    ``trigram`` is of `graphsearch.text.trigrams.similarity`, at least 0.6, the least that stores index;
    ``embedding`` is the cosine. ``candidates`` is how many a name is compared with in either, and how many a language
    model is offered. ``untyped`` is the type of a new entity where the text tells none.
    """

    trigram: float = 0.85
    embedding: float = 0.92
    candidates: int = 20
    untyped: str = "concept"

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "resolution",
            check.number("trigram", self.trigram, 0.6, 1),
            check.unit("embedding", self.embedding),
            check.number("candidates", self.candidates, 1),
            check.text("untyped", self.untyped),
        )


@attrs.frozen(kw_only=True)
class Resolution:
    """Which entity a surface names: one that is known, as it is now, or a new one.

    * ``score``: how sure the stage is, in [0, 1]: 1 for a name or an alias, the similarity that decided, 0 for a new
      entity.
    * ``conflict``: an entity of the same name and another type. It was left apart.
    * ``unseen``: whether nothing had exactly this type and normalised name: matching exact ids alone would have made
      an entity.
    * ``fault``: why the language model did not answer, where it was to be asked; nothing was merged for it.
    * ``asked``: whether the language model was asked about it, whatever came of that.
    * ``pending``: whether it was not, or not about what it is said to be, because a budget was spent: what it names is
      still to be told.
    """

    surface: Surface
    entity: Entity
    stage: Stage
    score: float
    conflict: Entity | None = None
    unseen: bool = False
    fault: str = ""
    asked: bool = False
    pending: bool = False


_RESOLVED: Final = "resolved_by_"
_CREATED: Final = "entities_created"
_UNSEEN: Final = "names_unseen"


def _counts(given: Mapping[Stage, int]) -> Mapping[Stage, int]:
    return MappingProxyType(dict(given))


@attrs.frozen(kw_only=True)
class ResolutionCounts:
    """Numbers of resolutions; counts of several batches add up."""

    by_stage: Mapping[Stage, int] = attrs.field(default=MappingProxyType({}), converter=_counts)
    created: int = 0
    """Entities made."""
    unseen: int = 0
    """Entities that would have been made had only exact ids matched."""

    @classmethod
    def of(cls, resolutions: Iterable[Resolution]) -> ResolutionCounts:
        """Of some resolutions, each entity that they made counted once."""
        found = tuple(resolutions)
        return cls(
            by_stage=Counter(each.stage for each in found),
            created=len({each.entity.id for each in found if each.stage is Stage.CREATE}),
            unseen=sum(each.unseen for each in found),
        )

    @classmethod
    def of_counters(cls, counters: Mapping[str, int]) -> ResolutionCounts:
        """Of the counters that a scope keeps, which come of `counters`; others are left aside."""
        stages = {stage: counters.get(f"{_RESOLVED}{stage}", 0) for stage in Stage}
        return cls(
            by_stage={stage: number for stage, number in stages.items() if number},
            created=counters.get(_CREATED, 0),
            unseen=counters.get(_UNSEEN, 0),
        )

    @property
    def counters(self) -> Mapping[str, int]:
        """As a batch adds them to the counters of its scope."""
        stages = {f"{_RESOLVED}{stage}": number for stage, number in self.by_stage.items()}
        return {**stages, _CREATED: self.created, _UNSEEN: self.unseen}

    def __add__(self, other: ResolutionCounts) -> ResolutionCounts:
        return ResolutionCounts(
            by_stage=Counter(self.by_stage) + Counter(other.by_stage),
            created=self.created + other.created,
            unseen=self.unseen + other.unseen,
        )

    @property
    def resolved(self) -> int:
        """Mentions resolved, by whichever stage."""
        return sum(self.by_stage.values())

    @property
    def fail_rate(self) -> float:
        """Entities made over mentions resolved, in [0, 1]; 0 where there were none (design 6)."""
        return self.created / self.resolved if self.resolved else 0.0

    @property
    def baseline(self) -> float:
        """The `fail_rate` had only exact ids matched."""
        return self.unseen / self.resolved if self.resolved else 0.0


class Names(Protocol):
    """The part of a `graphsearch.protocols.GraphStore` that resolution asks."""

    @property
    def clock(self) -> Clock:
        """What tells the time."""
        ...

    async def find_names(self, names: Sequence[str]) -> Sequence[NameMatch]:
        """Entities whose name or alias equals one of ``names``, both normalised and case-folded."""
        ...

    async def find_name_words(
        self, words: Sequence[str], *, prefix: bool = False, limit: int = 50
    ) -> Sequence[NameMatch]:
        """Entities one of whose names has, among its `name_words`, one of these, or one that starts with it.

        At most ``limit`` entities a word.
        """
        ...

    async def similar_names(
        self, names: Sequence[str], *, threshold: float, limit: int = 20
    ) -> Mapping[str, Sequence[SimilarName]]:
        """Entities by the similarity of a name or alias to each of ``names``, best first, ties by id."""
        ...

    async def get_entities(self, ids: Sequence[UUID]) -> Sequence[Entity]:
        """Entities in the order of ``ids``."""
        ...

    async def search_by_embedding(self, kind: ElementKind, vector: Vector, *, limit: int, view: View) -> Hits:
        """The nearest elements of a kind by cosine distance."""
        ...

    def entity_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of entities."""
        ...
