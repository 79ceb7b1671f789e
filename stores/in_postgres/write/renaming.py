"""Fold names and types of entities in Postgres again after their mentions, merges or given names have changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import attrs

from graphsearch.claims.naming import QUALIFIED_TYPES, fold_aliases, forgotten_name, is_typed_by_mentions, known_types
from graphsearch.model import AssertedEntity, ElementKind, Entity
from graphsearch.model.signatures import Attested
from graphsearch.model.validation import revised
from graphsearch.stores.in_postgres.index.bulk import copy_in
from graphsearch.stores.in_postgres.index.incoming import ALIAS, NAMING, alias_columns, naming_columns
from graphsearch.stores.in_postgres.index.indexing import drop_vectors, index_documents
from graphsearch.stores.in_postgres.index.signing import Codes, by_id, drop_signatures, keep_signatures
from graphsearch.stores.in_postgres.rows import element_of
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.write.summaries import drop_summaries
from graphsearch.stores.shared.merging import Tree

Surfaces = Mapping[UUID, Collection[str]]


@attrs.frozen
class Called:
    """An entity as it is stored, and the origins of its names and its type."""

    entity: Entity
    given_type: str
    given_aliases: tuple[str, ...]
    named: bool
    forms: frozenset[tuple[str, str]]
    """Surface forms and types of its mentions; for a merged entity, only those written for it."""
    signature: int = 0
    mentions: frozenset[int] = frozenset()
    """The signatures of the memories that mention it."""

    @property
    def asserted(self) -> AssertedEntity:
        """The entity as it was given."""
        own = revised(self.entity, type=self.given_type, aliases=self.given_aliases)
        return AssertedEntity(entity=own, named=self.named)


def called_of(row: dict[str, Any]) -> Called:
    """An entity with its names, from its row, which must not be used afterwards."""
    given = (row.pop("given_type"), tuple(row.pop("given_aliases")), row.pop("named"))
    forms = frozenset((surface, type_) for surface, type_ in row.pop("forms", ()))
    signed = row.pop("signature", 0), frozenset(row.pop("mentions", ()))
    return Called(element_of(ElementKind.ENTITY, row), *given, forms, *signed)


async def read_tree(session: Session, ids: Iterable[UUID]) -> Tree:
    """The targets of some merged entities, and the entities merged into those."""
    if not session.merges:
        return Tree({})
    found = await session.rows(statement("merge tree"), ids=list(set(ids)))
    return Tree(dict(found))


async def types_so_far(session: Session, entities: Iterable[Entity], named: Collection[UUID]) -> dict[UUID, str]:
    """The types stated by mentions of only-named entities: they stay while the mentions do."""
    ids = [each.id for each in entities if is_typed_by_mentions(each.type, named=each.id in named)]
    return dict(await session.rows(statement("stated types"), ids=ids)) if ids else {}


async def index_entities(
    session: Session, entities: Sequence[Entity], *, fresh: bool, merged: Collection[UUID] = ()
) -> None:
    """Make entities searchable by their shown names; the names of those ``merged`` belong to another now."""
    if not entities:
        return
    if not fresh or any(entity.aliases for entity in entities):
        ordered = by_id(entities)
        await copy_in(session, ALIAS, alias_columns([entity for entity in ordered if entity.id not in merged]))
        if not fresh:
            counts = [0 if entity.id in merged else len(entity.aliases) for entity in ordered]
            await session.run(statement("drop aliases"), ids=[entity.id for entity in ordered], counts=counts)
        await session.run(statement("insert aliases" if fresh else "upsert aliases"))
    await index_documents(session, ElementKind.ENTITY, entities, fresh=fresh)


@attrs.frozen
class Renamed:
    """The entities whose name or type has changed, in order of id, and those whose signature has."""

    reworded: tuple[UUID, ...] = ()
    signed: frozenset[UUID] = frozenset()


async def rename_entities(
    session: Session, touched: Collection[UUID], *, lost_surfaces: Surfaces | None = None, anew: Collection[UUID] = ()
) -> Renamed:
    """Fold the names, types and signatures of the entities touched, and of those they were merged into.

    ``lost_surfaces`` are surface forms that lost a mention; other mentions of them may remain. Those of ``anew`` are
    indexed even if their names stay. Vectors of reworded entities are dropped.
    """
    if not touched and not anew:
        return Renamed()
    tree = await read_tree(session, {*touched, *anew})
    ids = tree.above({*touched, *anew})
    known = await _called(session, tree, {*ids, *(each for key in ids for each in tree.below(key))})
    before = {key: each.entity for key, each in known.items()}
    reworded = []
    for key in ids:
        if key in known:
            words = await _words(session, known, tree, key, lost_surfaces or {})
            if words != (before[key].type, before[key].name):
                worded = revised(before[key], type=words[0], name=words[1])
                known[key] = attrs.evolve(known[key], entity=worded)
                reworded.append(key)
    after = {key: _shown(known, tree, key) for key in ids if key in known}
    changed = [entity for key, entity in after.items() if entity != before[key]]
    await drop_summaries(session, entities=reworded)
    if changed:
        await copy_in(session, NAMING, naming_columns(by_id(changed)))
        await session.run(statement("rename entities"))
    signed = await _sign(session, known, after, tree)
    if reworded:
        await drop_vectors(session, ElementKind.ENTITY, reworded)
    indexed = {entity.id: entity for entity in (*changed, *(after[key] for key in anew if key in after))}
    await index_entities(session, list(indexed.values()), fresh=False, merged=tree.into.keys())
    return Renamed(tuple(sorted(reworded)), frozenset(signed))


async def _called(session: Session, tree: Tree, ids: Collection[UUID]) -> dict[UUID, Called]:
    forms: dict[UUID, set[tuple[str, str]]] = {key: set() for key in ids if key in tree.into}
    if forms:
        for key, *each in await session.rows(statement("surface forms of merged"), ids=list(forms)):
            forms[key].add((each[0], each[1]))
    called = map(called_of, await session.dicts(statement("names of entities"), ids=list(ids)))
    return {
        each.entity.id: attrs.evolve(each, forms=frozenset(forms.get(each.entity.id, each.forms))) for each in called
    }


def _forms(known: Mapping[UUID, Called], keys: Iterable[UUID]) -> Iterable[tuple[str, str]]:
    return (form for key in keys for form in known[key].forms)


def _surfaces(known: Mapping[UUID, Called], tree: Tree, key: UUID) -> frozenset[str]:
    return frozenset(surface for surface, _ in _forms(known, tree.below(key)))


async def _words(
    session: Session, known: Mapping[UUID, Called], tree: Tree, key: UUID, lost_surfaces: Surfaces
) -> tuple[str, str]:
    """The type and the name of an entity by its mentions, and by those of the entities merged into it.

    Mentions do not change a given type.
    """
    called = known[key]
    type_, name = called.entity.type, called.entity.name
    if is_typed_by_mentions(called.given_type, named=called.named):
        below = tree.below(key)
        stated = known_types(each for _, each in _forms(known, below))
        type_ = next(iter(stated), called.given_type)
        if len(stated) > 1 or (stated and len(below) > 1):
            untyped = [each for each in below if is_typed_by_mentions(known[each].given_type, named=known[each].named)]
            type_ = (await _first(session, tree.root(key), untyped, stated))[1] or called.given_type
    if called.named and type_ not in QUALIFIED_TYPES:
        gone = [surface for each in tree.below(key) for surface in lost_surfaces.get(each, ())]
        if forgotten_name(name, gone, _surfaces(known, tree, key)):
            name = (await _first(session, tree.root(key), tree.below(key)))[0]
    return type_, name


async def _first(
    session: Session, root: UUID, ids: Iterable[UUID], types: Collection[str] | None = None
) -> tuple[str, str]:
    """Surface form and type of the earliest mention of entities that were merged into one, or ("", "").

    With ``types`` only of mentions that have one of these.
    """
    wanted = None if types is None else list(types)
    found = await session.rows(statement("first surface form"), root=root, ids=list(ids), types=wanted)
    return next(iter(found), ("", ""))


async def _sign(
    session: Session, known: Mapping[UUID, Called], after: Mapping[UUID, Entity], tree: Tree
) -> Collection[UUID]:
    """Store the types and signatures of entities that have other ones now; return these."""
    entities = list(after.values())
    attested = {each.id: _attested(known, after, tree, each.id) for each in entities}
    codes = dict(zip(after, Codes().of_entities(entities, attested), strict=True))
    changed = [each for each in entities if codes[each.id] != known[each.id].signature]
    if not changed:
        return ()
    kept, ids = Codes(), [each.id for each in changed]
    written = kept.of_entities(changed, attested)
    await session.run(statement("sign entities"), ids=ids, types=[each.type for each in changed], codes=written)
    await copy_to_ends(session, ids)
    await keep_signatures(session, kept)
    await drop_signatures(session, ElementKind.ENTITY, {known[key].signature for key in ids}.difference(written))
    return ids


def _attested(known: Mapping[UUID, Called], after: Mapping[UUID, Entity], tree: Tree, key: UUID) -> Attested:
    """What an entity depends on; one that was merged into another has left its mentions to it."""
    if key in tree.into:
        return Attested(named=known[key].named)
    below = [after.get(each, known[each].entity) for each in tree.below(key)[1:]]
    called = known[key]
    return Attested(
        mentions=called.mentions,
        absorbed=frozenset(Codes().of_entities(below)),
        named=called.named,
        typed=is_typed_by_mentions(called.given_type, named=called.named),
    )


def _shown(known: Mapping[UUID, Called], tree: Tree, key: UUID) -> Entity:
    called = known[key]
    others = [] if called.entity.type in QUALIFIED_TYPES else list(_surfaces(known, tree, key))
    for each in tree.below(key)[1:]:
        others += [known[each].entity.name, *known[each].given_aliases]
    aliases = fold_aliases(called.entity.name, called.given_aliases, others)
    return revised(called.entity, aliases=aliases)


async def copy_to_ends(session: Session, entity_ids: Collection[UUID]) -> None:
    """Copy signature and importance of entities to the relations that end there, so that a walk need not read them.

    Relations have them once they are settled, except of an end that some views hide or that is younger than the
    relation: such an entity is read.
    """
    if entity_ids:
        for name in ("copy columns of sources", "copy columns of targets"):
            await session.run(statement(name), ids=list(entity_ids))


async def put_into(session: Session, ids: Sequence[UUID], target_id: UUID | None) -> None:
    """Record that entities were merged into another, or are merged no longer."""
    await drop_summaries(session, entities=[*ids, *([target_id] if target_id else ())])
    await session.run(statement("merge into"), ids=list(ids), target_id=target_id)
    await copy_to_ends(session, ids)


async def surfaces_in(session: Session, memory_ids: Sequence[str]) -> Surfaces:
    """The surface forms in memories, by the entity that they were written for."""
    found: dict[UUID, set[str]] = {}
    rows = await session.rows(statement("surfaces in memories"), memory_ids=list(memory_ids))
    for key, surface in rows:
        found.setdefault(key, set()).add(surface)
    return found
