"""Signature codes of elements: made once for all elements that are alike, which is nearly all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

import attrs

from graphsearch.model import Entity, Memory, Relation
from graphsearch.signature import Signature, entity_signature, memory_signature, relation_signature
from graphsearch.stores.in_postgres import incoming

Element = TypeVar("Element", Entity, Memory, Relation)

_NOTHING: Final = frozenset[int]()


@attrs.define(eq=False)
class Codes:
    """The codes given to some elements, and the signatures they stand for."""

    evidence: Mapping[str, int] = attrs.field(factory=dict)
    """The codes of the memories that relations cite."""
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
        alike = ((each.type, each.kind, each.labels, self._cited(each), _named(each.attributes)) for each in relations)
        return self._codes(relations, alike, lambda each: relation_signature(each, self._cited(each)))

    def _cited(self, relation: Relation) -> frozenset[int]:
        if not relation.evidence:
            return _NOTHING
        return frozenset([self.evidence[key] for key in relation.evidence if key in self.evidence])

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


def _named(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    """Those attributes that are part of a signature."""
    return tuple([str(attributes.get(name, "")) for name in ("source", "owner", "sensitivity")]) if attributes else ()
