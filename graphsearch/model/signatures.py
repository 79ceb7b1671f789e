"""Signatures: the properties of an element that policies and scoring use without reading it.

Thousands of elements share a few signatures, so a decision or a half-life is computed once per signature instead of
once per element. Names, ids and free attributes are not part of a signature: policies that read those are evaluated
element by element.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import Codes, Floats, Mask
from graphsearch.model.codec import encode
from graphsearch.model.elements import ElementKind, Entity, Memory, Relation, RelationType


@attrs.frozen(kw_only=True, cache_hash=True)
class Resource:
    """An element as policies see it. ``id``, ``name`` and ``tags`` are empty when it represents a whole signature."""

    kind: ElementKind
    type: str = ""
    labels: tuple[str, ...] = ()
    source: str = ""
    owner: str = ""
    sensitivity: str = ""
    id: str = ""
    name: str = ""
    tags: Mapping[str, Any] = attrs.field(factory=dict, hash=False)


@attrs.frozen(kw_only=True, cache_hash=True)
class Signature:
    """The properties of an element that policies can be evaluated on per signature. Memories have no type.

    ``evidence`` has the signature codes of the memories that an element exists by: those that prove a relation, or that
    mention an entity which was never asserted. ``influences`` has those of the other elements that its content depends
    on: of a relation, further memories, and other targets of a functional type; of an entity, the entities merged into
    it, and, where it was asserted, the memories that mention it. ``shared`` is whether a relation has more than one
    memory or target in all, and ``typed`` whether an entity takes its type from its mentions.
    """

    kind: ElementKind
    type: str = ""
    labels: tuple[str, ...] = ()
    source: str = ""
    owner: str = ""
    sensitivity: str = ""
    evidence: tuple[int, ...] = ()
    influences: tuple[int, ...] = ()
    shared: bool = False
    typed: bool = False

    @property
    def code(self) -> int:
        """A positive 63-bit number made from the content alone, the same in every process and scope."""
        # stores and files of scopes hold codes from when a relation's kind was part of them; elsewhere it was null
        content = json.dumps({**encode(self), "edge_kind": None}, sort_keys=True)
        digest = hashlib.sha256(content.encode()).digest()
        return int.from_bytes(digest[:8], "big") >> 1

    @cached_property
    def resource(self) -> Resource:
        """The resource that represents all elements of this signature."""
        return Resource(
            kind=self.kind,
            type=self.type,
            labels=self.labels,
            source=self.source,
            owner=self.owner,
            sensitivity=self.sensitivity,
        )


@attrs.frozen(kw_only=True)
class Attested:
    """What an entity's existence, name and type depend on, as signature codes.

    ``mentions`` are the codes of the memories that mention it, ``absorbed`` those of the entities merged into it.
    ``named`` is whether it exists through its mentions alone, and ``typed`` whether its type follows from them too.
    """

    mentions: frozenset[int] = frozenset()
    absorbed: frozenset[int] = frozenset()
    named: bool = False
    typed: bool = False


UNATTESTED: Final = Attested()
"""For entities that nothing mentions."""


def entity_signature(entity: Entity, attested: Attested = UNATTESTED) -> Signature:
    """The signature of an entity, given what its existence, name and type depend on."""
    mentions, others = set(attested.mentions), set(attested.absorbed)
    return Signature(
        kind=ElementKind.ENTITY,
        type=entity.type,
        labels=entity.labels,
        evidence=tuple(sorted(mentions)) if attested.named else (),
        influences=tuple(sorted(others if attested.named else others | mentions)),
        typed=attested.typed and bool(mentions),
        **_named(entity.attributes),
    )


def memory_signature(memory: Memory) -> Signature:
    """The signature of a memory; its ``source`` takes precedence over an attribute of that name."""
    named = _named(memory.attributes)
    return Signature(kind=ElementKind.MEMORY, labels=memory.labels, **{**named, "source": memory.source})


def relation_signature(
    relation: Relation, evidence: Iterable[int], influences: Iterable[int] = (), *, shared: bool = False
) -> Signature:
    """The signature of a relation, given the signature codes of its evidence and of what else its fold depends on."""
    return Signature(
        kind=ElementKind.RELATION,
        type=relation.type,
        labels=relation.labels,
        evidence=tuple(sorted(set(evidence))),
        influences=tuple(sorted(set(influences))),
        shared=shared,
        **_named(relation.attributes),
    )


def _named(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: str(attributes.get(name, "")) for name in ("source", "owner", "sensitivity")}


_UNREGISTERED: Final = RelationType(name="unregistered")


@attrs.frozen(eq=False)
class SignatureTable:
    """Columns with a row for each signature: the codes of a hop are looked up once, all else is ``column[row]``."""

    contents: Sequence[Signature | None]
    """None for an unknown code."""
    types: Sequence[RelationType]
    """The relation type of each; prior 1.0 and no decay for elements without a type and unregistered types."""
    priors: Floats
    half_lives: Floats
    """In days."""
    decays: bool
    """Whether any half-life is finite."""
    shared: Mask
    """As `Signature.shared`."""
    typed: Mask
    """As `Signature.typed`."""
    attested: Mask
    """Whether the content of an element depends on others: see `Signature.evidence` and `Signature.influences`."""
    shares_none: bool
    """Whether the table holds all signatures of a scope and none is shared."""
    codes: Codes | None = None
    """The code of each row; None if codes are rows."""
    remembered: dict[Hashable, NDArray[np.int8]] = attrs.field(factory=dict, init=False)
    """Cached decisions on rows, by everything else that they depend on (see
    `graphsearch.access.gatekeeper.SignatureDecider`)."""
    allowed: dict[Hashable, bool] = attrs.field(factory=dict, init=False)
    """Whether all rows are allowed, by the same (see `graphsearch.access.gatekeeper.allows_scope`)."""

    @classmethod
    def of(
        cls, contents: Iterable[Signature | None], types: Mapping[str, RelationType], codes: Codes | None = None
    ) -> SignatureTable:
        """Build a table of signatures, in order, from the known relation types."""
        listed = tuple(contents)
        known = tuple(types.get(each.type, _UNREGISTERED) if each else _UNREGISTERED for each in listed)
        half_lives = np.array([each.ages_by for each in known], dtype=np.float64)
        shared = np.array([each is not None and each.shared for each in listed], dtype=np.bool_)
        return cls(
            contents=listed,
            types=known,
            priors=np.array([each.prior for each in known], dtype=np.float64),
            half_lives=half_lives,
            decays=bool(np.isfinite(half_lives).any()),
            shared=shared,
            typed=np.array([each is not None and each.typed for each in listed], dtype=np.bool_),
            attested=np.array(
                [each is not None and bool(each.evidence or each.influences) for each in listed], dtype=np.bool_
            ),
            shares_none=codes is None and not shared.any(),
            codes=codes,
        )

    def __len__(self) -> int:
        return len(self.contents)

    def type_names(self, rows: Iterable[int]) -> list[str]:
        """The type of the elements of each row; empty for an unknown row."""
        return [content.type if (content := self.contents[row]) else "" for row in rows]

    @classmethod
    def by_code(cls, signatures: Mapping[int, Signature], types: Mapping[str, RelationType]) -> SignatureTable:
        """Build a table of signatures whose codes are small numbers and serve as rows."""
        return cls.of(map(signatures.get, range(max(signatures, default=-1) + 1)), types)

    @classmethod
    def with_codes(cls, signatures: Mapping[int, Signature], types: Mapping[str, RelationType]) -> SignatureTable:
        """Build a table of signatures whose codes are arbitrary numbers."""
        codes = sorted(signatures)
        return cls.of([signatures[code] for code in codes], types, np.array(codes, dtype=np.int64))
