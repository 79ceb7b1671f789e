"""Signatures of elements: their codes, computed once for all equal elements, and their contents as stored."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, TypeVar
from uuid import UUID

import attrs

from graphsearch.claims.folding import ALONE, Together
from graphsearch.errors import StoreError
from graphsearch.model import ElementKind, Entity, Memory, Relation
from graphsearch.model.codec import encode
from graphsearch.model.signatures import (
    UNATTESTED,
    Attested,
    Signature,
    entity_signature,
    memory_signature,
    relation_signature,
)
from graphsearch.stores.in_postgres.index import incoming
from graphsearch.stores.in_postgres.index.bulk import NUMBER
from graphsearch.stores.in_postgres.rows import element_of
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.shared.influences import Influences

Element = TypeVar("Element", Entity, Relation)

NONE_FOLDED: Final[Mapping[UUID, Together]] = MappingProxyType({})
NOT_ATTESTED: Final[Mapping[UUID, Attested]] = MappingProxyType({})


@attrs.define(eq=False)
class Codes:
    """The codes given to some elements, and the signatures behind them."""

    evidence: Mapping[str, int] = attrs.field(factory=dict)
    """The codes of the memories that relations cite."""
    targets: Mapping[UUID, int] = attrs.field(factory=dict)
    """The codes of the entities at the ends of relations."""
    together: Mapping[UUID, Together] = attrs.field(factory=dict)
    """By folded relation."""
    signatures: dict[Signature, int] = attrs.field(factory=dict)
    _influences: dict[Together, Influences] = attrs.field(factory=dict)
    """The relations of a group share one."""

    def of_entities(self, entities: Sequence[Entity], attested: Mapping[UUID, Attested] = NOT_ATTESTED) -> list[int]:
        """One code per entity; ``attested`` is what each depends on, if anything."""
        return [self.code(entity_signature(each, attested.get(each.id, UNATTESTED))) for each in entities]

    def of_memories(self, memories: Sequence[Memory]) -> list[int]:
        """One code per memory."""
        return [self.code(memory_signature(each)) for each in memories]

    def of_relations(self, relations: Sequence[Relation]) -> list[int]:
        """One code per relation."""
        return [self.code(self._of_relation(each)) for each in relations]

    def code(self, signature: Signature) -> int:
        """The code of a signature, which is to be kept with the others."""
        found = self.signatures.get(signature)
        if found is None:
            found = self.signatures[signature] = incoming.code_of(signature)
        return found

    def _of_relation(self, relation: Relation) -> Signature:
        cited = frozenset([self.evidence[key] for key in relation.evidence if key in self.evidence])
        together = self.together.get(relation.id, ALONE)
        if not relation.evidence or not together.shared:
            return relation_signature(relation, cited, (), shared=False)
        influences = self._influences.get(together)
        if influences is None:
            influences = self._influences[together] = Influences.of(together, self.evidence, self.targets)
        return relation_signature(relation, cited, influences.on(relation), shared=True)


@attrs.frozen
class Stored:
    """A relation, and whether it was folded from claims (or else asserted)."""

    relation: Relation
    folded: bool


async def stored_relations(session: Session, name: str, **values: Any) -> dict[UUID, Stored]:
    """Relations by id, from a statement that reads them whole."""
    found = {}
    for row in await session.dicts(statement(name), **values):
        folded = row.pop("folded")
        found[row["id"]] = Stored(element_of(ElementKind.RELATION, row), folded)
    return found


def by_id(elements: Iterable[Element]) -> list[Element]:
    """In order of id, of equal ids the last: writing in index order is fastest."""
    return sorted(last_of_each(elements), key=NUMBER)


def last_of_each(elements: Iterable[Element]) -> list[Element]:
    """The last element of each id."""
    return list({each.id: each for each in elements}.values())


async def codes_citing(
    session: Session, relations: Iterable[Relation], together: Mapping[UUID, Together] = NONE_FOLDED
) -> Codes:
    """The codes of relations whose evidence is stored; ``together`` as in `Codes`."""
    shared = {each for each in together.values() if each.shared}
    cited = {memory for relation in relations for memory in relation.evidence}.union(
        *(each.memories for each in shared)
    )
    targets = {target for each in shared if len(each.targets) > 1 for target in each.targets}
    evidence = await _signed(session, ElementKind.MEMORY, cited)
    return Codes(evidence, await _signed(session, ElementKind.ENTITY, targets), together)


async def _signed(session: Session, kind: ElementKind, ids: Collection[Any]) -> dict[Any, int]:
    if not ids:
        return {}
    return dict(await session.rows(statement("signatures of", kind), ids=list(ids)))


async def keep_signatures(session: Session, codes: Codes) -> None:
    """Store the content of signatures. Raises `StoreError` if two have the same code, which is all but impossible."""
    ordered = sorted(codes.signatures.items(), key=itemgetter(1))
    if not ordered:
        return
    contents = {code: json.dumps(encode(signature)) for signature, code in ordered}
    known = dict(
        await session.rows(statement("known signatures"), codes=list(contents), contents=list(contents.values()))
    )
    new = {code: content for code, content in contents.items() if code not in known}
    if new:
        await session.run(statement("keep signatures"), codes=list(new), contents=list(new.values()))
    if not session.shares and any(signature.shared for signature in codes.signatures):
        await session.run(statement("mark shared"))
        session.shares = True
    repeated = [one[1] for one, other in pairwise(ordered) if one[1] == other[1]]
    if clashes := [*repeated, *(code for code, same in known.items() if not same)]:
        raise StoreError(f"two signatures have the code {clashes[0]}: write these elements with another label")


async def sign_again(session: Session, memory_ids: Collection[str]) -> None:
    """Renew the signatures of asserted relations with some memories as evidence, after those changed theirs."""
    if not memory_ids:
        return
    proved = await stored_relations(session, "relations proved", memory_ids=list(memory_ids))
    relations = [each.relation for each in proved.values() if not each.folded]
    codes = await codes_citing(session, relations)
    ids = [each.id for each in relations]
    await session.run(statement("sign relations"), ids=ids, codes=codes.of_relations(relations))
    await keep_signatures(session, codes)
    await drop_signatures(session, ElementKind.RELATION, None)


async def drop_signatures(session: Session, kind: ElementKind, codes: Collection[int] | None) -> None:
    """Delete unused signatures: they may quote forgotten memories."""
    if codes is None or codes:
        dropped = await session.run(statement("drop signatures", kind), codes=None if codes is None else list(codes))
        if dropped.count:
            await session.run(statement("count dropped signatures"), dropped=dropped.count)
