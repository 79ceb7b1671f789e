"""Options and results of resolution, and the part of a store that it reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Protocol
from uuid import UUID

import attrs

from graphsearch.columns import Hits, Keys
from graphsearch.model import ElementKind, Entity, NameMatch, Vector, View
from graphsearch.model.extracted import ExtractedName
from graphsearch.protocols import Clock


class Stage(StrEnum):
    """The stage that decided, from cheap to expensive."""

    ID = "id"
    ALIAS = "alias"
    NAME_PART = "name_part"
    TRIGRAM = "trigram"
    EMBEDDING = "embedding"
    LLM = "llm"
    CREATE = "create"


UNTYPED: Final = "thing"
"""The type of a new entity if the text states none."""


@attrs.frozen(kw_only=True)
class Resolution:
    """The entity that a surface form names: a known one, in its present state, or a new one.

    * ``score``: the confidence of the stage, in [0, 1]: 1 for a name or an alias, else the similarity that decided, 0
      for a new entity.
    * ``conflict``: an entity of the same name and another type, which was not merged.
    * ``unseen``: whether no entity had exactly this type and normalised name, so that matching exact ids alone would
      have created one.
    * ``fault``: why the language model did not answer, if it was asked; nothing was merged.
    * ``judged``: whether the language model was asked about it.
    * ``pending``: whether a question about it, or about its match, was left out because a budget was spent: the entity
      is still undecided.
    """

    surface: ExtractedName
    entity: Entity
    stage: Stage
    score: float
    conflict: Entity | None = None
    unseen: bool = False
    fault: str = ""
    judged: bool = False
    pending: bool = False


def _counts(given: Mapping[Stage, int]) -> Mapping[Stage, int]:
    return MappingProxyType(dict(given))


@attrs.frozen(kw_only=True)
class ResolutionCounts:
    """Counts of resolutions; those of several batches can be added."""

    by_stage: Mapping[Stage, int] = attrs.field(default=MappingProxyType({}), converter=_counts)
    created: int = 0
    """Entities created."""
    unseen: int = 0
    """Entities that matching exact ids alone would have created."""

    @classmethod
    def of(cls, resolutions: Iterable[Resolution]) -> ResolutionCounts:
        """The counts of some resolutions, with each new entity counted once."""
        found = tuple(resolutions)
        return cls(
            by_stage=Counter(each.stage for each in found),
            created=len({each.entity.id for each in found if each.stage is Stage.CREATE}),
            unseen=sum(each.unseen for each in found),
        )

    @property
    def counters(self) -> Mapping[str, int]:
        """The counters that a batch adds to those of its scope."""
        stages = {f"resolved_by_{stage}": number for stage, number in self.by_stage.items()}
        return {**stages, "entities_created": self.created, "names_unseen": self.unseen}

    def __add__(self, other: ResolutionCounts) -> ResolutionCounts:
        return ResolutionCounts(
            by_stage=Counter(self.by_stage) + Counter(other.by_stage),
            created=self.created + other.created,
            unseen=self.unseen + other.unseen,
        )

    @property
    def resolved(self) -> int:
        """Mentions resolved by any stage."""
        return sum(self.by_stage.values())

    @property
    def fail_rate(self) -> float:
        """Entities created per mention resolved, in [0, 1]; 0 if there were none."""
        return self.created / self.resolved if self.resolved else 0.0

    @property
    def baseline(self) -> float:
        """The `fail_rate` of matching exact ids alone."""
        return self.unseen / self.resolved if self.resolved else 0.0


class NameStore(Protocol):
    """The part of a `graphsearch.protocols.GraphStore` that resolution reads."""

    @property
    def clock(self) -> Clock:
        """The source of the present time."""
        ...

    async def id_key(self) -> UUID:
        """The secret of the scope by which ids are minted."""
        ...

    async def find_names(self, names: Sequence[str]) -> Sequence[NameMatch]:
        """Entities whose name or alias equals one of ``names``, both normalised and case-folded."""
        ...

    async def find_name_words(
        self, words: Sequence[str], *, prefix: bool = False, limit: int = 50
    ) -> Sequence[NameMatch]:
        """Entities with a name among whose `name_words` is one of ``words``, or with ``prefix`` one starting with it.

        At most ``limit`` entities per word.
        """
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
