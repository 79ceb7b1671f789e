"""Signatures kept in the database: each relation's tells of the memories behind it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

import attrs

from graphsearch.errors import StoreError
from graphsearch.model import ElementKind, Relation
from graphsearch.signature import Signature, relation_signature
from graphsearch.stores.incoming import code_of
from graphsearch.stores.sessions import Session
from graphsearch.stores.statements import statement


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


async def sign(session: Session, relations: Iterable[Relation]) -> dict[UUID, int]:
    """The signature codes of relations, whose evidence is stored."""
    relations = list(relations)
    cited = {memory for relation in relations for memory in relation.evidence}
    codes: dict[str, int] = {}
    if cited:
        codes = dict(await (await session.run(statement("memory signatures"), ids=list(cited))).fetchall())
    signatures = {
        each.id: relation_signature(each, [codes[key] for key in each.evidence if key in codes]) for each in relations
    }
    await keep_signatures(session, set(signatures.values()))
    return {key: code_of(signature) for key, signature in signatures.items()}


async def keep_signatures(session: Session, signatures: Collection[Signature]) -> None:
    """Store the content of signatures. Raises `StoreError` where two have one code, against all odds."""
    if not signatures:
        return
    ordered = sorted(signatures, key=code_of)
    codes = [code_of(signature) for signature in ordered]
    contents = [json.dumps(signature.as_json()) for signature in ordered]
    await session.run(statement("keep signatures"), codes=codes, contents=contents)
    found = await session.run(statement("conflicting signatures"), codes=codes, contents=contents)
    if clashes := await found.fetchall():
        raise StoreError(f"two signatures have the code {clashes[0][0]}: write these elements with another label")


async def sign_again(session: Session, memory_ids: Collection[str]) -> None:
    """Renew the signatures of the relations that some memories prove, after those changed theirs."""
    if not memory_ids:
        return
    proved = await stored_relations(session, "relations proved", memory_ids=list(memory_ids))
    codes = await sign(session, [each.relation for each in proved.values()])
    await session.run(statement("sign relations"), ids=list(codes), codes=list(codes.values()))
    await drop_signatures(session, ElementKind.RELATION, None)


async def drop_signatures(session: Session, kind: ElementKind, codes: Collection[int] | None) -> None:
    """Forget those signatures that no element has any more: they may quote what was forgotten."""
    if codes is None or codes:
        await session.run(statement("drop signatures", kind), codes=None if codes is None else list(codes))
