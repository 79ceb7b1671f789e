"""Whole elements out of Postgres, and counts of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import numpy as np

from graphsearch import validation
from graphsearch.columns import Codes, Keys
from graphsearch.errors import StoreError
from graphsearch.model import Claim, ElementKind, Memory, Mention, Relation
from graphsearch.naming import folded_name
from graphsearch.records import Group, NameMatch, Statistics
from graphsearch.signature import Signature
from graphsearch.stores.in_postgres import rows
from graphsearch.stores.in_postgres.copying import UuidArray, packed
from graphsearch.stores.in_postgres.incoming import name_hashes
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement
from graphsearch.stores.shared.answers import claim_place, mention_place


def storable(texts: Iterable[str]) -> list[str]:
    """Those texts that can be stored at all: one with NUL or a lone surrogate is nowhere to be found."""
    return [text for text in texts if validation.text("text", text, empty=True) is None]


async def get(session: Session, kind: ElementKind, ids: Sequence[Any]) -> list[Any]:
    """Elements in the order of ``ids``."""
    found = await _read(session, kind, ids if kind is ElementKind.MEMORY else packed(ids))
    return [element for element in found if element is not None]


async def behind(session: Session, kind: ElementKind, keys: Keys) -> list[Any]:
    """The elements behind keys. Raises `StoreError` where something deleted one and left what leads to it."""
    asked: Sequence[Any] = rows.texts(keys) if kind is ElementKind.MEMORY else rows.bytes_of(keys)
    found = await _read(session, kind, asked)
    if any(element is None for element in found):
        raise StoreError(f"{kind} rows of {session.scope} that others lead to are not there: repair what deleted them")
    return found


async def _read(session: Session, kind: ElementKind, asked: Sequence[Any]) -> list[Any]:
    """Elements by the ids of memories, or by the bytes of other ids; None for what is not there."""
    known = session.once.elements(kind)
    if unread := [key for key in asked if key not in known]:
        ids = storable(unread) if kind is ElementKind.MEMORY else UuidArray.of(unread)
        found = await session.run_kept(statement("get", kind), ids=ids)
        names = [column.name for column in found.description or ()]
        for row in await found.fetchall():
            key = row[0] if kind is ElementKind.MEMORY else row[0].bytes
            known[key] = rows.element_of(kind, dict(zip(names, row, strict=True)))
    return list(map(known.get, asked))


async def page(session: Session, kind: ElementKind, limit: int, **values: Any) -> list[Any]:
    """The next elements in order of id."""
    validation.refuse("page", validation.number("limit", limit, 0))
    found = await session.dicts(statement(f"list {kind}", kind), limit=limit, **values)
    return [rows.element_of(kind, row) for row in found]


async def page_of_relations(
    session: Session, limit: int, after: UUID | None, type_: str | None, entity_id: UUID | None
) -> list[Relation]:
    """The next unretracted relations in order of id, of a type and of an entity where they are given."""
    validation.refuse("page", validation.number("limit", limit, 0))
    listed, condition = ("relation", "") if entity_id is None else ("{every relation}", "{of entity}")
    page = statement("list relation", ElementKind.RELATION, listed=listed, condition=condition)
    found = await session.dicts(page, limit=limit, after=after, type=type_, entity_id=entity_id)
    return [rows.element_of(ElementKind.RELATION, row) for row in found]


async def page_of_memories(
    session: Session, limit: int, after: str | None, source: str | None, session_id: str | None
) -> list[Memory]:
    """The next memories in order of id, of a source and of a session where they are given."""
    validation.refuse("page", validation.number("limit", limit, 0))
    given = {"of source": source, "of session": session_id}
    asked = {name: value for name, value in given.items() if value is not None}
    if len(storable(asked.values())) < len(asked):
        return []
    page = statement("list memory", ElementKind.MEMORY, condition=" ".join(f"{{{name}}}" for name in asked))
    found = await session.dicts(page, limit=limit, after=after, source=source, session_id=session_id)
    return [rows.element_of(ElementKind.MEMORY, row) for row in found]


async def mentions(session: Session, memory_ids: Sequence[str], entity_ids: Sequence[UUID]) -> list[Mention]:
    """Mentions in any of the memories or of any of the entities."""
    values = {"memory_ids": storable(memory_ids), "entity_ids": list(entity_ids)}
    found = map(rows.mention_of, await session.dicts(statement("list mentions"), **values))
    return sorted(found, key=mention_place)


async def claims(
    session: Session, memory_ids: Sequence[str], relation_ids: Sequence[UUID], groups: Sequence[Group]
) -> list[Claim]:
    """Claims of any of the memories, behind any of the relations or folded in any of the groups."""
    found: list[dict[str, Any]] = []
    if memory_ids:
        found += await session.dicts(statement("claims of memories"), memory_ids=storable(memory_ids))
    if relation_ids:
        found += await session.dicts(statement("claims of relations"), relation_ids=list(relation_ids))
    if groups:
        found += await session.dicts(statement("claims of groups"), **rows.group_values(groups))
    dated = {rows.claim_of(row) for row in found}
    return [each.claim for each in sorted(dated, key=claim_place)]


async def find_names(session: Session, names: Sequence[str]) -> list[NameMatch]:
    """Entities that have one of the names, in order of id."""
    asked = storable(dict.fromkeys(names))
    folded = [folded_name(name) for name in asked]
    values = {"names": asked, "folded": folded, "hashes": name_hashes(folded).tolist()}
    waiting = "{waiting names}" if session.tally(ElementKind.ENTITY).behind else ""
    # What waits to be indexed is few or many: planned for what it is.
    run = session.run if waiting else session.run_kept
    found = await (await run(statement("find names", waiting=waiting), **values)).fetchall()
    return [NameMatch(name=name, entity_id=entity, alias=alias) for name, entity, alias in found]


async def signatures(session: Session, codes: Sequence[int]) -> dict[int, Signature]:
    """The content of signature codes, read once in a while."""
    known = session.signatures.contents
    asked = [int(code) for code in codes]
    contents = {code: known[code] for code in asked if code in known}
    if unknown := [code for code in asked if code not in contents]:
        found = await session.run_kept(statement("signatures"), codes=unknown)
        read = {code: Signature.from_json(content) for code, content in await found.fetchall()}
        session.signatures.add(read)
        contents |= read
    return contents


async def shared_signatures(session: Session) -> Codes:
    """Codes of the shared signatures, in order."""
    if not session.shares:
        return np.empty(0, dtype=np.int64)
    ((codes,),) = await (await session.run_kept(statement("shared signatures"))).fetchall()
    return rows.codes(codes)


async def degrees(session: Session, ids: Sequence[UUID]) -> dict[UUID, int]:
    """How many unretracted relations each entity has, both directions."""
    return dict(await (await session.run(statement("degrees"), ids=list(dict.fromkeys(ids)))).fetchall())


async def statistics(session: Session) -> Statistics:
    """Counts of the scope; relations are those not retracted."""
    entities = await _by_type(session, ElementKind.ENTITY, "")
    relations = await _by_type(session, ElementKind.RELATION, "AND retracted_at IS NULL")
    memories, claims, mentions, largest = await session.columns(statement("counts"))
    count, live = sum(entities.values()), sum(relations.values())
    return Statistics(
        entities=count,
        relations=live,
        memories=memories,
        claims=claims,
        mentions=mentions,
        entities_by_type=entities,
        relations_by_type=relations,
        embedder=session.embedder,
        dimensions=session.dimensions,
        max_degree=largest,
        mean_degree=2 * live / count if count else 0.0,
        counters=dict(await (await session.run(statement("counters"))).fetchall()),
    )


async def _by_type(session: Session, kind: ElementKind, condition: str) -> dict[str, int]:
    found = await session.run(statement("counts by type", kind, condition=condition))
    return dict(await found.fetchall())
