"""Results of resolution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

import attrs

from graphsearch.model import Entity
from graphsearch.model.extracted import ExtractedName


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
