"""The signature codes of what a relation was folded with, counted once for all relations of its group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import attrs

from graphsearch.claims.folding import Together
from graphsearch.model import Relation


@attrs.frozen(eq=False)
class Influences:
    """The codes of the memories and targets that the relations of one group were folded from together.

    A group of n relations takes time linear in n, as each takes its own evidence and target away from common counts.
    """

    together: Together
    _memories: Mapping[Any, int]
    _targets: Mapping[Any, int]
    _of_memories: Counter[int]
    _of_targets: Counter[int]

    @classmethod
    def of(cls, together: Together, memories: Mapping[Any, int], targets: Mapping[Any, int]) -> Influences:
        """Of a group, with the codes of ``memories`` and of ``targets``; those without a code are left out."""
        return cls(
            together,
            memories,
            targets,
            Counter(_codes(memories, together.memories)),
            Counter(_codes(targets, together.targets)),
        )

    def on(self, relation: Relation) -> frozenset[int]:
        """The codes of what influences a relation apart from its own evidence and target."""
        evidence = self.together.memories.intersection(relation.evidence)
        target = self.together.targets & {relation.target_id}
        return frozenset(
            (
                *_left(self._of_memories, _codes(self._memories, evidence)),
                *_left(self._of_targets, _codes(self._targets, target)),
            )
        )


def _codes(codes: Mapping[Any, int], keys: Iterable[Hashable]) -> list[int]:
    return [codes[key] for key in keys if key in codes]


def _left(counts: Mapping[int, int], taken: Iterable[int]) -> list[int]:
    own = Counter(taken)
    return [code for code, number in counts.items() if number > own[code]]
