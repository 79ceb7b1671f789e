"""Signatures kept in the database: each relation's tells of the memories behind it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar
from uuid import UUID

import attrs

from graphsearch.errors import StoreError
from graphsearch.model import ElementKind, Entity, Relation
from graphsearch.signature import Signature, relation_signature
from graphsearch.stores.in_postgres.incoming import code_of
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement

Element = TypeVar("Element", Entity, Relation)


@attrs.frozen
class Stored:
    """A relation, and whether its claims amount to it (or else it was given)."""

    relation: Relation
    folded: bool


async def stored_relations(session: Session, name: str, **values: Any) -> dict[UUID, Stored]:
    """Relations by id, from a statement that reads them whole."""
    found = {}
    for row in await session.dicts(statement(name, ElementKind.RELATION), **values):
        folded = row.pop("folded")
        found[row["id"]] = Stored(Relation(**row), folded)
    return found


async def none_stored(session: Session, kind: ElementKind, elements: Iterable[Entity | Relation]) -> bool:
    """Whether all of some entities or relations are new, so that they can be written without looking for them."""
    (none,) = await session.columns(statement("none existing", kind), ids=[each.id for each in elements])
    return bool(none)


def by_id(elements: Iterable[Element]) -> list[Element]:
    """In order of id, which is the order in which every writer takes them."""
    return sorted(elements, key=_number)


def _number(element: Entity | Relation) -> int:
    return element.id.int


async def sign(session: Session, relations: Sequence[Relation]) -> list[int]:
    """The signature codes of relations, whose evidence is stored."""
    cited = {memory for relation in relations for memory in relation.evidence}
    codes: dict[str, int] = {}
    if cited:
        codes = dict(await (await session.run(statement("memory signatures"), ids=list(cited))).fetchall())
    alike: dict[object, Signature] = {}
    signatures = []
    for each in relations:
        evidence = frozenset(codes[key] for key in each.evidence if key in codes)
        named = None if not each.attributes else each.id
        known = alike.get(key := (each.type, each.kind, each.labels, evidence, named))
        if known is None:
            known = alike[key] = relation_signature(each, evidence)
        signatures.append(known)
    return await keep_signatures(session, signatures)


async def keep_signatures(session: Session, signatures: Sequence[Signature]) -> list[int]:
    """Store the content of signatures; their codes. Raises `StoreError` where two have one code, against all odds."""
    code = {signature: code_of(signature) for signature in set(signatures)}
    ordered = sorted(code, key=code.__getitem__)
    contents = [json.dumps(signature.as_json()) for signature in ordered]
    values = {"codes": [code[signature] for signature in ordered], "contents": contents}
    if ordered:
        await session.run(statement("keep signatures"), **values)
        if clashes := await (await session.run(statement("conflicting signatures"), **values)).fetchall():
            raise StoreError(f"two signatures have the code {clashes[0][0]}: write these elements with another label")
    return [code[signature] for signature in signatures]


async def sign_again(session: Session, memory_ids: Collection[str]) -> None:
    """Renew the signatures of the relations that some memories prove, after those changed theirs."""
    if not memory_ids:
        return
    proved = await stored_relations(session, "relations proved", memory_ids=list(memory_ids))
    codes = await sign(session, [each.relation for each in proved.values()])
    await session.run(statement("sign relations"), ids=list(proved), codes=codes)
    await drop_signatures(session, ElementKind.RELATION, None)


async def drop_signatures(session: Session, kind: ElementKind, codes: Collection[int] | None) -> None:
    """Forget those signatures that no element has any more: they may quote what was forgotten."""
    if codes is None or codes:
        await session.run(statement("drop signatures", kind), codes=None if codes is None else list(codes))
