"""Signatures kept in the database: each relation's tells of the memories behind it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any, Final, TypeVar
from uuid import UUID

import attrs

from graphsearch.claims.folding import Together
from graphsearch.errors import StoreError
from graphsearch.model import ElementKind, Entity, Relation
from graphsearch.stores.in_postgres.codes import Codes
from graphsearch.stores.in_postgres.rows import element_of
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement

Element = TypeVar("Element", Entity, Relation)

NONE_FOLDED: Final[Mapping[UUID, Together]] = MappingProxyType({})

NUMBER: Final = attrgetter("id.int")
"""An element's id as a number, which is told apart and sorted ten times as fast."""


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
        found[row["id"]] = Stored(element_of(ElementKind.RELATION, row), folded)
    return found


def by_id(elements: Iterable[Element]) -> list[Element]:
    """In order of id, of one id the last: what is written in the order of an index is written fastest."""
    of = _by_number(elements)
    return [of[number] for number in sorted(of)]


def last_of_each(elements: Iterable[Element]) -> list[Element]:
    """Without those of which another of the same id follows."""
    return list(_by_number(elements).values())


def _by_number(elements: Iterable[Element]) -> dict[int, Element]:
    found = list(elements)
    return dict(zip(map(NUMBER, found), found, strict=True))


async def codes_citing(
    session: Session, relations: Iterable[Relation], together: Mapping[UUID, Together] = NONE_FOLDED
) -> Codes:
    """For the codes of relations whose evidence is stored; ``together`` as in `Codes`."""
    shared = [each for each in together.values() if each.shared]
    cited = {memory for relation in relations for memory in relation.evidence}.union(
        *(each.memories for each in shared)
    )
    targets = {target for each in shared if len(each.targets) > 1 for target in each.targets}
    evidence = await _signed(session, ElementKind.MEMORY, cited)
    return Codes(evidence, await _signed(session, ElementKind.ENTITY, targets), together)


async def _signed(session: Session, kind: ElementKind, ids: Collection[Any]) -> dict[Any, int]:
    if not ids:
        return {}
    return dict(await (await session.run(statement("signatures of", kind), ids=list(ids))).fetchall())


async def keep_signatures(session: Session, codes: Codes) -> None:
    """Store the content of signatures. Raises `StoreError` where two have one code, against all odds."""
    ordered = sorted(codes.signatures.items(), key=itemgetter(1))
    if not ordered:
        return
    contents = [json.dumps(signature.as_json()) for signature, _ in ordered]
    kept = await session.run(statement("keep signatures"), codes=[code for _, code in ordered], contents=contents)
    if not session.shares and any(signature.shared for signature in codes.signatures):
        await session.run(statement("mark shared"))
        session.shares = True
    if clashes := await kept.fetchall():
        raise StoreError(f"two signatures have the code {clashes[0][0]}: write these elements with another label")


async def sign_again(session: Session, memory_ids: Collection[str]) -> None:
    """Renew the signatures of given relations that some memories prove, after those changed theirs."""
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
    """Forget those signatures that no element has any more: they may quote what was forgotten."""
    if codes is None or codes:
        dropped = await session.run(statement("drop signatures", kind), codes=None if codes is None else list(codes))
        if dropped.rowcount:
            await session.run(statement("count dropped signatures"), dropped=dropped.rowcount)
