"""The fold of mentions, merges and given names to the names, types, aliases and signatures of entities in a write."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from graphsearch._support.concurrency import in_slices
from graphsearch.claims.naming import QUALIFIED_TYPES, fold_aliases, forgotten_name, is_typed_by_mentions, known_types
from graphsearch.model.signatures import Attested, entity_signature
from graphsearch.model.validation import revised
from graphsearch.protocols.rows import EntityRow, MentionRow
from graphsearch.stores.writer.work import Work

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
Mentions = Mapping[UUID, Collection[MentionRow]]


async def rename(work: Work) -> tuple[tuple[UUID, ...], set[UUID]]:
    """Fold names, types, aliases and signatures of the entities that were touched, and of those they were merged into.

    Returns the entities whose text changed, in order of id, and the stored ones whose signature changed.
    """
    await work.read_entities(work.touched)
    keys = [key for key in work.tree.above(work.touched) if key in work.entities]
    await work.read_forms({each for key in keys for each in work.tree.below(key)})
    unsure = await in_slices(_unsure(work, keys))
    mentions: dict[UUID, list[MentionRow]] = {key: [] for key in unsure}
    for row in await work.mentions.by("written", unsure):
        mentions[row.mention.entity_id].append(row)
    return await in_slices(_renamed(work, keys, mentions))


def _unsure(work: Work, keys: Iterable[UUID]) -> Generator[None, None, set[UUID]]:
    """The entities, with those merged into them, whose name or type depends on which mention is the first; in steps."""
    found: set[UUID] = set()
    for key in keys:
        row, tree = work.entities[key], work.tree.below(key)
        if row.named:
            stated = known_types(type_ for _, type_, _ in work.forms(*_typed_tree(work, row)))
            if len(stated) > 1 or forgotten_name(row.entity.name, _lost(work, tree), _surfaces(work, tree)):
                found.update(tree)
        yield
    return found


def _renamed(
    work: Work, keys: Sequence[UUID], mentions: Mentions
) -> Generator[None, None, tuple[tuple[UUID, ...], set[UUID]]]:
    reworded: list[UUID] = []
    resigned: set[UUID] = set()
    for key in keys:
        row = work.entities[key]
        type_ = _stated_type(work, row, mentions)
        name = _stated_name(work, row, type_, mentions)
        if (type_, name) != (row.entity.type, row.entity.name):
            work.entities.put(revised(row, entity=revised(row.entity, type=type_, name=name)))
            work.vectors["entity"].setdefault(key, None)
            reworded.append(key)
        yield
    for key in keys:  # when all have their names: the aliases of an entity are names of those merged into it
        row = work.entities[key]
        if (aliases := _aliases(work, row)) != row.entity.aliases:
            work.entities.put(revised(row, entity=revised(row.entity, aliases=aliases)))
        yield
    for key in sorted(keys, key=lambda key: key not in work.tree.into):  # first those whose signatures others name
        row = work.entities[key]
        code = work.sign(entity_signature(row.entity, _attested(work, row)))
        if code != row.signature:
            work.entities.put(revised(row, signature=code))
            if not work.entities.is_absent(key):
                resigned.add(key)
        yield
    return tuple(sorted(reworded)), resigned


def _is_typed(row: EntityRow) -> bool:
    return is_typed_by_mentions(row.given_type, named=row.named)


def _typed_tree(work: Work, row: EntityRow) -> list[UUID]:
    """An entity without a type of its own, and what was merged into it and has none either."""
    return [key for key in work.tree.below(row.key) if _is_typed(work.entities[key])] if _is_typed(row) else []


def _lost(work: Work, tree: Iterable[UUID]) -> list[str]:
    return [surface for key in tree for surface in work.lost.get(key, ())]


def _surfaces(work: Work, tree: Iterable[UUID]) -> set[str]:
    return {surface for surface, _, _ in work.forms(*tree)}


def _stated_type(work: Work, row: EntityRow, mentions: Mentions) -> str:
    """The type stated by the mentions of an entity and of those merged into it that were given no type either."""
    if not _is_typed(row):
        return row.entity.type
    tree = _typed_tree(work, row)
    stated = known_types(type_ for _, type_, _ in work.forms(*tree))
    if len(stated) > 1:
        return next(each.mention.type for each in _in_order(mentions, tree) if each.mention.type in stated)
    return next(iter(stated), row.given_type)


def _stated_name(work: Work, row: EntityRow, type_: str, mentions: Mentions) -> str:
    """The name of an entity of a type: another one if the mentions that stated it are gone."""
    if row.named and type_ not in QUALIFIED_TYPES:
        tree = work.tree.below(row.key)
        if forgotten_name(row.entity.name, _lost(work, tree), _surfaces(work, tree)):
            return _in_order(mentions, tree)[0].mention.surface
    return row.entity.name


def _aliases(work: Work, row: EntityRow) -> tuple[str, ...]:
    """The given aliases, the surfaces, and the names of entities merged into it."""
    tree = work.tree.below(row.key)
    others = set() if row.entity.type in QUALIFIED_TYPES else _surfaces(work, tree)
    for key in tree[1:]:
        merged = work.entities[key]
        others.update((merged.entity.name, *merged.given_aliases))
    return fold_aliases(row.entity.name, row.given_aliases, others)


def _attested(work: Work, row: EntityRow) -> Attested:
    """What an entity depends on; one that was merged into another has left its mentions to it."""
    if row.key in work.tree.into:
        return Attested(named=row.named, typed=_is_typed(row))
    tree = work.tree.below(row.key)
    return Attested(
        mentions=frozenset([signature for _, _, signature in work.forms(*tree)]),
        absorbed=frozenset([work.entities[key].signature for key in tree[1:]]),
        named=row.named,
        typed=_is_typed(row),
    )


def _in_order(mentions: Mentions, tree: Iterable[UUID]) -> list[MentionRow]:
    """All mentions that were written for some entities, the earliest first."""

    def place(row: MentionRow) -> tuple[datetime, str, tuple[int, int], str, str]:
        each = row.mention
        span = (each.span.start, each.span.end) if each.span else (-1, -1)
        return (row.occurred_at or _EARLIEST, each.memory_id, span, each.surface, each.type)

    return sorted([row for key in tree for row in mentions[key]], key=place)
