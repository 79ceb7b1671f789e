"""Signature codes of elements: made once for all elements that are alike, which is nearly all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar
from uuid import UUID

import attrs

from graphsearch.claims.folding import ALONE, Together
from graphsearch.model import Entity, Memory, Relation
from graphsearch.model.signatures import Signature, entity_signature, memory_signature, relation_signature
from graphsearch.stores.in_postgres import incoming

Element = TypeVar("Element", Entity, Memory, Relation)
Key = TypeVar("Key", str, UUID)

_NOTHING: Final = frozenset[int]()
_UNPROVED: Final = (_NOTHING, _NOTHING, False)


@attrs.define(eq=False)
class Codes:
    """The codes given to some elements, and the signatures they stand for."""

    evidence: Mapping[str, int] = attrs.field(factory=dict)
    """The codes of the memories that relations cite."""
    targets: Mapping[UUID, int] = attrs.field(factory=dict)
    """The codes of the entities that relations lead to."""
    together: Mapping[UUID, Together] = attrs.field(factory=dict)
    """By relation that was folded."""
    signatures: dict[Signature, int] = attrs.field(factory=dict)
    _alike: dict[Any, int] = attrs.field(factory=dict)

    def of_entities(self, entities: Sequence[Entity]) -> list[int]:
        """One for each entity."""
        alike = ((each.type, each.labels, _named(each.attributes)) for each in entities)
        return self._codes(entities, alike, entity_signature)

    def of_memories(self, memories: Sequence[Memory]) -> list[int]:
        """One for each memory."""
        alike = ((each.source, each.labels, _named(each.attributes)) for each in memories)
        return self._codes(memories, alike, memory_signature)

    def of_relations(self, relations: Sequence[Relation]) -> list[int]:
        """One for each relation."""
        alike = ((each.type, each.kind, each.labels, *self._proof(each), _named(each.attributes)) for each in relations)
        return self._codes(relations, alike, self._of_relation)

    def _of_relation(self, relation: Relation) -> Signature:
        cited, beside, shared = self._proof(relation)
        return relation_signature(relation, cited, beside, shared=shared)

    def _proof(self, relation: Relation) -> tuple[frozenset[int], frozenset[int], bool]:
        """As in its signature: the codes of its evidence and of what is beside it, and whether that is shared."""
        if not relation.evidence:
            return _UNPROVED
        cited = _known(self.evidence, relation.evidence)
        together = self.together.get(relation.id, ALONE)
        if not together.shared:
            return cited, _NOTHING, False
        others = _known(self.evidence, together.memories.difference(relation.evidence))
        return cited, others | _known(self.targets, together.targets.difference([relation.target_id])), True

    def _codes(
        self, elements: Sequence[Element], alike: Iterable[Any], signature: Callable[[Element], Signature]
    ) -> list[int]:
        known, codes = self._alike, []
        for one, element in zip(alike, elements, strict=True):
            code = known.get(one)
            if code is None:
                code = known[one] = self._new(signature(element))
            codes.append(code)
        return codes

    def _new(self, signature: Signature) -> int:
        code = self.signatures.get(signature)
        if code is None:
            code = self.signatures[signature] = incoming.code_of(signature)
        return code


def _known(codes: Mapping[Key, int], keys: Iterable[Key]) -> frozenset[int]:
    return frozenset([codes[key] for key in keys if key in codes])


def _named(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    """Those attributes that are part of a signature."""
    return tuple([str(attributes.get(name, "")) for name in ("source", "owner", "sensitivity")]) if attributes else ()
