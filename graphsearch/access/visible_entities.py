"""Entities as they are visible: named, typed and known by what visible memories and entities attest.

An entity that exists through its mentions alone exists for a principal that sees one of them. What is shown of it is
what would be stored if its hidden memories were forgotten (`graphsearch.claims.naming`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch._support.concurrency import aside
from graphsearch.access.gate import BoundGate, resource_of
from graphsearch.claims.naming import (
    QUALIFIED_TYPES,
    fold_aliases,
    folded_name,
    forgotten_name,
    is_typed_by_mentions,
    known_types,
)
from graphsearch.columns import Mask
from graphsearch.errors import AccessDeniedError
from graphsearch.model import AssertedEntity, Entity, Mention, NameMatch, SimilarName
from graphsearch.model.validation import revised
from graphsearch.stores.graph import GraphStore
from graphsearch.text.trigrams import name_words, similarity

if TYPE_CHECKING:
    from graphsearch.access.gatekeeper import Decider

_READ: Final = 8
"""Memories read of each surface form at first: usually one of them is visible."""
_WIDER: Final = 8
"""The factor by which each further round reads more."""
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_NO_NAMES: Final = frozenset[str]()


@attrs.frozen
class _FirstWritten:
    """When the first memory that mentions an entity was written, and the first visible one, None if none is."""

    of_all: datetime
    visible: datetime | None


@attrs.frozen
class _Attested:
    """The names that memories and merged entities give to an entity, and its visible mentions where they are read."""

    visible: frozenset[str]
    """Surface forms in visible memories."""
    hidden: frozenset[str]
    """Surface forms in hidden memories alone."""
    absorbed: frozenset[str] = _NO_NAMES
    """Visible names of entities merged into it."""
    mentions: tuple[Mention, ...] = ()
    """The visible ones, the earliest first."""
    whole: bool = True
    """Whether all of the memories that mention it are read, and visible."""
    first: _FirstWritten | None = None
    """Of the memories that mention it, where not all are visible."""

    @property
    def by_nobody(self) -> bool:
        """Whether all of its mentions are hidden; a merged entity has some of its own, which the other has too."""
        return self.first is not None and self.first.visible is None


class VisibleEntities:
    """The visible forms of entities, for one question; each is read once."""

    def __init__(self, store: GraphStore, gate: BoundGate, decider: Decider, *, allows_all: bool) -> None:
        self._store = store
        self._gate = gate
        self._decider = decider
        self._allows_all = allows_all
        self._folded: dict[UUID, Entity | None] = {}
        """By id; None where all mentions of an entity that exists through them are hidden."""
        self._allowed: dict[UUID, bool] = {}
        self._partial = set[UUID]()

    def met(self, ids: Iterable[UUID]) -> None:
        """Note visible entities of which some mentions may be hidden."""
        self._partial.update(ids)

    def is_partial(self, entity_id: UUID) -> bool:
        """Whether some mentions of a visible entity may be hidden."""
        return entity_id in self._partial

    async def admitted(self, entities: Sequence[Entity]) -> list[Entity]:
        """The visible forms of entities that were admitted by their signatures, one for each."""
        if not self._partial:
            return list(entities)
        await self._fold([each for each in entities if each.id in self._partial])
        shown = [self._folded[each.id] if each.id in self._partial else each for each in entities]
        found = [each for each in shown if each is not None]
        if len(found) < len(entities):  # two decisions of the authorizer contradict each other
            raise AccessDeniedError(self._gate.action.value)
        return found

    async def shown(self, entities: Sequence[Entity]) -> list[Entity]:
        """The visible ones of any stored entities, in order, in their visible forms."""
        if self._allows_all:
            return list(entities)
        await self._fold(entities)
        folded = [found for each in entities if (found := self._folded[each.id])]
        undecided = list({each.id: each for each in folded if each.id not in self._allowed}.values())
        answers = await self._gate.permits([resource_of(each) for each in undecided])
        self._allowed.update((each.id, allow) for each, allow in zip(undecided, answers, strict=True))
        return [each for each in folded if self._allowed[each.id]]

    # -- the fold ------------------------------------------------------------------------------------------------

    async def _fold(self, entities: Iterable[Entity]) -> None:
        unread = list({each.id: each for each in entities if each.id not in self._folded}.values())
        if not unread:
            return
        given = {each.entity.id: each for each in await self._store.asserted([each.id for each in unread])}
        attested = await self._attested(unread, given)
        for each in unread:
            self._folded[each.id] = _visible(each, given[each.id], attested[each.id])

    async def _attested(
        self, entities: Sequence[Entity], given: Mapping[UUID, AssertedEntity]
    ) -> Mapping[UUID, _Attested]:
        roots = await self._roots(entities)
        found = await self._surfaces(sorted(set(roots.values())))
        absorbed = await self._absorbed([each.id for each in entities])
        attested = {each.id: attrs.evolve(found[roots[each.id]], absorbed=absorbed[each.id]) for each in entities}
        unclear = [each for each in entities if _needs_mentions(each, given[each.id], attested[each.id])]
        mentions = await self._mentions(sorted({roots[each.id] for each in unclear}))
        for each in unclear:
            attested[each.id] = attrs.evolve(attested[each.id], mentions=tuple(mentions[roots[each.id]]))
        dated = [each.id for each in entities if given[each.id].named and not attested[each.id].whole]
        first = await self._first_written(sorted(dated))
        for id_ in dated:
            attested[id_] = attrs.evolve(attested[id_], first=first.get(id_))
        return attested

    async def _roots(self, entities: Sequence[Entity]) -> dict[UUID, UUID]:
        """Of each entity the one that it was finally merged into, which has its mentions."""
        above = {each.id: each.merged_into for each in entities}
        while missing := {key for key in above.values() if key and key not in above}:
            above |= {each.id: each.merged_into for each in await self._store.get_entities(sorted(missing))}
        roots = {}
        for each in entities:
            root = each.id
            while further := above.get(root):
                root = further
            roots[each.id] = root
        return roots

    async def _surfaces(self, ids: Sequence[UUID]) -> Mapping[UUID, _Attested]:
        """The surface forms of entities, by whether a visible memory has them.

        One visible memory per surface form is enough, so that few are read first, and more if these are all hidden.
        """
        visible, forms = defaultdict[UUID, set[str]](set), defaultdict[UUID, set[str]](set)
        unread, limit, parts = ids, _READ, set[UUID]()
        while unread:
            found = await self._store.surface_forms(unread, limit=limit)
            waiting = [each for each in found if each.surface not in visible[each.entity_id]]
            seen = await self._decider.memories(sorted({id_ for each in waiting for id_ in each.memory_ids}))
            for each in waiting:
                forms[each.entity_id].add(each.surface)
                if any(seen.get(memory) for memory in each.memory_ids):
                    visible[each.entity_id].add(each.surface)
                if len(each.memory_ids) == limit or not all(seen.get(memory) for memory in each.memory_ids):
                    parts.add(each.entity_id)
            unread = sorted(
                {
                    each.entity_id
                    for each in waiting
                    if each.surface not in visible[each.entity_id] and len(each.memory_ids) == limit
                }
            )
            limit *= _WIDER
        return {
            id_: _Attested(frozenset(visible[id_]), frozenset(forms[id_] - visible[id_]), whole=id_ not in parts)
            for id_ in ids
        }

    async def _first_written(self, ids: Sequence[UUID]) -> Mapping[UUID, _FirstWritten]:
        """When the first memories that mention entities were written; more are read where the first are all hidden."""
        found: dict[UUID, _FirstWritten] = {}
        unread, limit = ids, _READ
        while unread:
            written = await self._store.first_written(unread, limit=limit)
            seen = await self._decider.memories(sorted({id_ for each in written.values() for _, id_ in each}))
            for entity, each in written.items():
                visible = next((at for at, id_ in each if seen.get(id_)), None)
                found[entity] = _FirstWritten(each[0][0], visible)
            unread = [id_ for id_, each in written.items() if len(each) == limit and found[id_].visible is None]
            limit *= _WIDER
        return found

    async def _absorbed(self, ids: Sequence[UUID]) -> Mapping[UUID, frozenset[str]]:
        """Names and asserted aliases of entities that were merged into others, as far as visible."""
        names: dict[UUID, frozenset[str]] = dict.fromkeys(ids, _NO_NAMES)
        merges = [each for each in await self._store.merges(ids) if each.target_id in names and each.undone_at is None]
        if not merges:
            return names
        sources = {each.id: each for each in await self._store.get_entities([merge.source_id for merge in merges])}
        answers = await self._gate.permits([resource_of(each) for each in sources.values()])
        permitted = dict(zip(sources, answers, strict=True))
        given = {each.entity.id: each for each in await self._store.asserted(list(sources))}
        attested = await self._surfaces(sorted(id_ for id_, each in given.items() if each.named))
        below = await self._absorbed(list(sources))
        for merge in merges:
            source, own = sources[merge.source_id], set[str]()
            if permitted[source.id]:
                own = {source.name, *given[source.id].entity.aliases}
                if source.id in attested and _only_hidden(source.name, attested[source.id]):
                    own.discard(source.name)
            names[merge.target_id] |= own | below[merge.source_id]
        return names

    async def _mentions(self, ids: Sequence[UUID]) -> Mapping[UUID, list[Mention]]:
        """The visible mentions of entities, the earliest first."""
        found = await self._store.list_mentions(entity_ids=ids) if ids else ()
        memory_ids = sorted({each.memory_id for each in found})
        seen = await self._decider.memories(memory_ids)
        visible = [id_ for id_ in memory_ids if seen.get(id_)]
        occurred_at = {memory.id: memory.occurred_at for memory in await self._store.get_memories(visible)}
        mentions: dict[UUID, list[Mention]] = {id_: [] for id_ in ids}
        for each in sorted(
            (each for each in found if each.memory_id in occurred_at),
            key=lambda each: _place(each, occurred_at[each.memory_id]),
        ):
            mentions[each.entity_id].append(each)
        return mentions


def _place(mention: Mention, occurred_at: datetime | None) -> tuple[datetime, str, tuple[int, int], str, str]:
    span = (mention.span.start, mention.span.end) if mention.span else (-1, -1)
    return (occurred_at or _EARLIEST, mention.memory_id, span, mention.surface, mention.type)


def _only_hidden(name: str, attested: _Attested) -> bool:
    """Whether a name occurs in hidden surface forms alone."""
    hidden = any(name in each for each in attested.hidden)
    return hidden and not any(name in each for each in attested.visible)


def _needs_mentions(entity: Entity, given: AssertedEntity, attested: _Attested) -> bool:
    """Whether the order of its mentions determines an entity's visible name, or their types its visible type."""
    if not given.named or (not attested.hidden and not _typed(entity, given)):
        return False
    return _typed(entity, given) or forgotten_name(entity.name, attested.hidden, attested.visible)


def _typed(entity: Entity, given: AssertedEntity) -> bool:
    """Whether an entity has a type that its mentions gave it."""
    return is_typed_by_mentions(given.entity.type, named=given.named) and entity.type != given.entity.type


def _visible(entity: Entity, given: AssertedEntity, attested: _Attested) -> Entity | None:
    """The visible form of an entity; None if it exists through hidden mentions alone."""
    if attested.by_nobody:
        return None
    type_ = _visible_type(given, attested.mentions) if _typed(entity, given) else entity.type
    name = entity.name
    if given.named and type_ not in QUALIFIED_TYPES and forgotten_name(name, attested.hidden, attested.visible):
        name = attested.mentions[0].surface
    surfaces: Collection[str] = () if type_ in QUALIFIED_TYPES else attested.visible
    aliases = fold_aliases(name, given.entity.aliases, {*surfaces, *attested.absorbed})
    return revised(entity, type=type_, name=name, aliases=aliases, created_at=_created(entity, attested.first))


def _created(entity: Entity, first: _FirstWritten | None) -> datetime | None:
    """When an entity was first mentioned; if a hidden memory did it, its first visible one."""
    stored = entity.created_at
    if stored is None or first is None or first.visible is None or first.of_all == first.visible:
        return stored
    return max(stored, first.visible) if first.of_all <= stored else stored


def _visible_type(given: AssertedEntity, mentions: Sequence[Mention]) -> str:
    """The type that the visible mentions state first; the given one if they state none."""
    stated = known_types(each.type for each in mentions)
    return next((each.type for each in mentions if each.type in stated), given.entity.type)


Forms = Mapping[UUID, Entity | None]
"""The visible ones of some entities: the visible form of each if it may differ from the stored one, else None."""
KeysOf = Callable[[str], Collection[str]]
"""What a name is found by: its words, or the whole of it."""


def whole(name: str) -> tuple[str]:
    """What a whole name is found by."""
    return (folded_name(name),)


async def visible_matches(
    matches: Sequence[NameMatch], forms: Forms, keys_of: KeysOf, *, prefix: bool = False
) -> list[NameMatch]:
    """The matches of visible entities by a visible name; each name is read once, however many matches it has."""

    def seen() -> list[NameMatch]:
        read = {
            id_: [{*keys_of(form.name)}, {key for each in form.aliases for key in keys_of(each)}]
            for id_, form in forms.items()
            if form
        }
        found = []
        for match in matches:
            if match.entity_id not in read:
                found += [match] if match.entity_id in forms else []
                continue
            (written,) = keys_of(match.name) if keys_of is whole else (match.name,)
            own = [_has(keys, written, prefix=prefix) for keys in read[match.entity_id]]
            if any(own):
                found.append(attrs.evolve(match, alias=not own[0]))
        return found

    return await aside(seen, sum(len(form.aliases) for form in forms.values() if form))


def _has(keys: Collection[str], written: str, *, prefix: bool) -> bool:
    """Whether one of some keys is a word, or begins with it."""
    return any(key.startswith(written) for key in keys) if prefix else written in keys


def are_called(entities: Sequence[Entity], names: Collection[str], words: AbstractSet[str]) -> Mask:
    """Which entities have one of some names, or one of some words in a name."""
    wanted = {(name,) for name in map(folded_name, names)}
    called = [(each.name, *each.aliases) for each in entities]
    return np.array(
        [any(whole(name) in wanted or not words.isdisjoint(name_words(name)) for name in own) for own in called],
        np.bool_,
    )


def first_matches(matches: Sequence[NameMatch], limit: int) -> list[NameMatch]:
    """The matches with the lowest ids, at most ``limit`` for each name."""
    taken: Counter[str] = Counter()
    found = []
    for each in matches:
        taken[each.name] += 1
        if taken[each.name] <= limit:
            found.append(each)
    return found


def rare_entities(matches: Sequence[NameMatch], limit: int) -> set[UUID]:
    """The entities with one of the words that are in less than ``limit`` names."""
    having = Counter(match.name for match in matches)
    return {match.entity_id for match in matches if having[match.name] < limit}


def most_similar(name: str, stored: Sequence[SimilarName], forms: Forms, threshold: float) -> list[SimilarName]:
    """The visible ones of some entities with similar names, best first, compared by their visible names."""
    wanted, found = folded_name(name), []
    for each in stored:
        if form := forms.get(each.entity_id):
            best = max(similarity(wanted, folded_name(own)) for own in (form.name, *form.aliases))
            found.append(attrs.evolve(each, similarity=best))
        elif each.entity_id in forms:
            found.append(each)
    return sorted(
        (each for each in found if each.similarity >= threshold), key=lambda each: (-each.similarity, each.entity_id)
    )
