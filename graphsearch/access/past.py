"""The gate of a question about what was known earlier: memories that were not known, or had not occurred, are hidden.

So what they prove, name and state is left out by the same rules as what policies hide, and the answer is that of a
graph which has never heard of them. Feedback, importance, merges and other curation are those of the present.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs

from graphsearch.access.gate import BoundGate, StatisticsOf
from graphsearch.model import ElementKind, Memory, View
from graphsearch.model.signatures import Resource
from graphsearch.stores.graph import GraphStore


@attrs.frozen(kw_only=True)
class PastGate(BoundGate):
    """A gate that denies, besides what another one denies, the memories that a view does not know."""

    gate: BoundGate
    store: GraphStore
    view: View

    @property
    def allows_all(self) -> bool:
        """False."""
        return False

    @property
    def policies(self) -> BoundGate:
        """The other gate."""
        return self.gate

    @property
    def by_signature(self) -> bool:
        """False: a signature has no time."""
        return False

    async def permits(self, resources: Sequence[Resource]) -> Sequence[bool]:
        """What the other gate permits, without memories that were not known."""
        answers = [True] * len(resources) if self.gate.allows_all else await self.gate.permits(resources)
        asked = [each.id for each, allow in zip(resources, answers, strict=True) if allow and _is_memory(each)]
        if not asked:
            return answers
        known = {each.id for each in await self.store.get_memories(asked) if self._knows(each)}
        return [
            allow and (not _is_memory(each) or each.id in known) for each, allow in zip(resources, answers, strict=True)
        ]

    def _knows(self, memory: Memory) -> bool:
        """Whether a memory was known, and if the view knows nothing later than it looks at, had occurred."""
        if not self.view.known(memory.created_at, None):
            return False
        return self.view.known_at > self.view.as_of or self.view.holds(memory.occurred_at, None)


def known_by(gate: BoundGate, store: GraphStore, view: View, now: datetime) -> BoundGate:
    """The gate with what was not known yet hidden, where a view is of what was known before the present."""
    if view.known_at >= now:
        return gate
    return PastGate(
        authorizer=gate.authorizer,
        principal=gate.principal,
        scope=gate.scope,
        action=gate.action,
        statistics=StatisticsOf.VISIBLE,
        gate=gate,
        store=store,
        view=view,
    )


def _is_memory(resource: Resource) -> bool:
    return resource.kind is ElementKind.MEMORY
