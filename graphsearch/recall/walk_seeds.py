"""The entities where a walk starts: those that a question names, and those related to these."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES
from graphsearch.columns import NONE, Floats, Keys, Mask, Subgraph
from graphsearch.columns.key_index import Places
from graphsearch.model import ElementKind, ElementRef
from graphsearch.protocols import Traversal


@attrs.frozen(eq=False, kw_only=True)
class Linked:
    """Distinct entities with their weights: the probability of being named, less for related ones."""

    keys: Keys
    strength: Floats
    steps: Subgraph | None
    """The relations from named to related entities."""

    def step_to(self, entity: Keys, reader: Reader) -> tuple[ElementRef, ...]:
        """The named entity and the relation that lead to another (a column of one key); empty for a named one."""
        if self.steps is None:
            return ()
        (row,) = Places(self.steps.entities).of(entity).tolist()
        if row == NONE or (via := int(self.steps.via[row])) == NONE:
            return ()
        before = self.steps.previous[row]
        (source,) = reader.store.entity_ids(self.steps.entities[before : before + 1])
        (relation,) = reader.store.relation_ids(self.steps.relations[via : via + 1])
        return ElementRef(ElementKind.ENTITY, str(source)), ElementRef(ElementKind.RELATION, str(relation))


async def link(named: Mapping[UUID, float], related: float, traversal: Traversal, reader: Reader) -> Linked:
    """The visible named entities with their probabilities, and those one hop further.

    These count ``related`` × their strength: the confidence of the relation; or the rank relative to the greatest, if
    the traversal ranks entities. Co-occurrence is left out: the walk itself follows mentions, and knows their rarity.
    """
    seeds = await reader.locate(sorted(named))
    likely = np.array([named[each] for each in reader.store.entity_ids(seeds.keys)], np.float64)
    if not related or not len(seeds):
        return Linked(keys=seeds.keys, strength=likely, steps=None)
    found = await traversal.traverse(seeds, depth=1, reader=reader)
    strong = found.along_paths(found.confidence, np.minimum) if found.rank is None else found.rank / found.rank.max()
    (beyond,) = (_stated(found, reader) & ~np.isin(found.entities, seeds.keys)).nonzero()
    return Linked(
        keys=np.concatenate((seeds.keys, found.entities[beyond])),
        strength=np.concatenate((likely, related * strong[beyond])),
        steps=found,
    )


def _stated(found: Subgraph, reader: Reader) -> Mask:
    """Which entities have a relation in the subgraph other than co-occurrence."""
    types = reader.signatures.types
    says = np.array([types[row].name not in CO_OCCURRENCE_TYPES for row in found.signatures.tolist()], np.bool_)
    if found.rank is None:  # by the relation that leads to it
        return np.append(says, True)[found.via]
    stated = np.zeros(len(found.entities), np.bool_)
    stated[found.source[says]] = stated[found.target[says]] = True
    return stated
