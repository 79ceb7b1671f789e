"""What entities are called, in Postgres: folded again for those whose mentions, merges or given names changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import attrs

from graphsearch.model import ElementKind, Entity
from graphsearch.naming import QUALIFIED_TYPES, fold_aliases, forgotten_name
from graphsearch.records import Given
from graphsearch.stores.in_postgres.incoming import ALIAS, NAMING, alias_columns, naming_columns
from graphsearch.stores.in_postgres.indexing import copy_in, drop_vectors, index_documents
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.signing import by_id
from graphsearch.stores.in_postgres.statements import insertion, statement
from graphsearch.stores.merging import Tree

Surfaces = Mapping[UUID, Collection[str]]


@attrs.frozen
class _Called:
    """An entity as it is stored, and where its names come from."""

    entity: Entity
    given: tuple[str, ...]
    named: bool
    surfaces: frozenset[str]
    """Of its mentions; those of an entity that was merged away, that were said of it alone."""


async def given(session: Session, ids: Sequence[UUID]) -> list[Given]:
    """Entities as they were given, in the order of ``ids``."""
    rows = await session.dicts(statement("given names"), ids=list(ids))
    of = {
        row["id"]: Given(entity=attrs.evolve(entity, aliases=own), named=named)
        for row, entity, own, named in _read(rows)
    }
    return [of[key] for key in ids if key in of]


def _read(rows: Iterable[dict[str, Any]]) -> Iterable[tuple[dict[str, Any], Entity, tuple[str, ...], bool]]:
    for row in rows:
        own, named = tuple(row.pop("given_aliases")), row.pop("named")
        surfaces = row.pop("surfaces", ())
        yield {"id": row["id"], "surfaces": surfaces}, Entity(**row), own, named


async def read_tree(session: Session, ids: Iterable[UUID]) -> Tree:
    """What some entities were merged into, and what was merged into those."""
    if not session.merges:
        return Tree({})
    found = await session.run(statement("merge tree"), ids=list(set(ids)))
    return Tree(dict(await found.fetchall()))


async def index_entities(
    session: Session, entities: Sequence[Entity], *, fresh: bool, merged: Collection[UUID] = ()
) -> None:
    """Make entities to be found by the names that they show; the names of those ``merged`` are those of another now."""
    if not entities:
        return
    ordered = by_id(entities)
    if not fresh or any(entity.aliases for entity in ordered):
        await copy_in(session, ALIAS, alias_columns([entity for entity in ordered if entity.id not in merged]))
        if not fresh:
            await session.run(statement("drop aliases"), ids=[entity.id for entity in ordered])
        await session.run(insertion("upsert aliases", fresh=fresh))
    await index_documents(session, ElementKind.ENTITY, ordered, fresh=fresh)


async def call_again(
    session: Session, touched: Collection[UUID], *, unsaid: Surfaces | None = None, anew: Collection[UUID] = ()
) -> None:
    """Fold the names of the entities touched, and of those they were merged into.

    ``unsaid`` are surfaces that were said of entities before, some of which may still be. Those of ``anew`` are
    indexed even if they are called as before.
    """
    if not touched and not anew:
        return
    tree = await read_tree(session, {*touched, *anew})
    ids = tree.above({*touched, *anew})
    known = await _called(session, tree, {*ids, *(each for key in ids for each in tree.below(key))})
    before = {key: each.entity for key, each in known.items()}
    renamed = []
    for key in ids:
        if key in known and _is_forgotten(known, tree, key, unsaid or {}):
            found = await session.columns(statement("first surface"), root=tree.root(key), ids=list(tree.below(key)))
            known[key] = attrs.evolve(known[key], entity=attrs.evolve(known[key].entity, name=found[0]))
            renamed.append(key)
    after = {key: _shown(known, tree, key) for key in ids if key in known}
    changed = [entity for key, entity in after.items() if entity != before[key]]
    if changed:
        await copy_in(session, NAMING, naming_columns(by_id(changed)))
        await session.run(statement("rename entities"))
    if renamed:
        await drop_vectors(session, ElementKind.ENTITY, renamed)
    indexed = {entity.id: entity for entity in (*changed, *(after[key] for key in anew if key in after))}
    await index_entities(session, list(indexed.values()), fresh=False, merged=tree.into.keys())


async def _called(session: Session, tree: Tree, ids: Collection[UUID]) -> dict[UUID, _Called]:
    said: dict[UUID, set[str]] = {}
    if merged := [key for key in ids if key in tree.into]:
        for key, surface in await (await session.run(statement("surfaces said"), ids=merged)).fetchall():
            said.setdefault(key, set()).add(surface)
    rows = await session.dicts(statement("names of entities"), ids=list(ids))
    return {
        row["id"]: _Called(
            entity, own, named, frozenset(said.get(row["id"], ()) if row["id"] in tree.into else row["surfaces"])
        )
        for row, entity, own, named in _read(rows)
    }


def _said(known: Mapping[UUID, _Called], tree: Tree, key: UUID) -> set[str]:
    return {surface for each in tree.below(key) if each in known for surface in known[each].surfaces}


def _is_forgotten(known: Mapping[UUID, _Called], tree: Tree, key: UUID, unsaid: Surfaces) -> bool:
    called = known[key]
    if not called.named or called.entity.type in QUALIFIED_TYPES:
        return False
    gone = [surface for each in tree.below(key) for surface in unsaid.get(each, ())]
    return forgotten_name(called.entity.name, gone, _said(known, tree, key))


def _shown(known: Mapping[UUID, _Called], tree: Tree, key: UUID) -> Entity:
    called = known[key]
    others = [] if called.entity.type in QUALIFIED_TYPES else list(_said(known, tree, key))
    for each in tree.below(key)[1:]:
        others += [known[each].entity.name, *known[each].given]
    return attrs.evolve(called.entity, aliases=fold_aliases(called.entity.name, called.given, others))
