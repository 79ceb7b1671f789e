"""Visible entities that may be one: by the letters of their names, and by the rules of names."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.reader import Reader
from graphsearch.claims.naming import folded_name
from graphsearch.model import Entity, SimilarPair
from graphsearch.names.candidate_index import MAX_COMPARED
from graphsearch.names.likeness import EXACT_TYPES, Alike, Findings, Likeness, Named, alike, is_comparable
from graphsearch.names.typed_names import read
from graphsearch.protocols import GraphStore
from graphsearch.text.trigrams import similarity

ALIKE: Final = 0.85
"""Two names with a greater similarity may belong to one entity."""
NEAR_CERTAIN: Final = 0.92
"""Two names with a greater similarity almost certainly belong to one entity."""


class Verdict(StrEnum):
    """What to do about a pair."""

    NEAR_CERTAIN = "near_certain"
    REVIEW = "review"
    """To be reviewed by a person or a language model."""


@attrs.frozen(kw_only=True)
class Duplicate:
    """Two entities that may be one, the lower id first.

    ``similarity`` is that of their names, in [0, 1], or what a rule of names gives (`Likeness`). They have one type,
    except where ``likeness`` is TYPE, or the type of one is unknown: `merge_entities` then takes ``retype=True``.
    """

    one: Entity
    other: Entity
    similarity: float
    likeness: Likeness = Likeness.SIMILAR

    @property
    def verdict(self) -> Verdict:
        """Near certain above 0.92, else for review."""
        return Verdict.NEAR_CERTAIN if self.similarity > NEAR_CERTAIN else Verdict.REVIEW


@attrs.frozen
class Comparison:
    """What comparing the names of a graph finds: pairs, the most alike first, and entities that fit several."""

    entities: int
    pairs: tuple[Duplicate, ...]
    ambiguous: tuple[UUID, ...]


@attrs.frozen
class Ambiguity:
    """An entity that is called by a part of a person's name alone, and the people whose whole names the part fits.

    Whom its mentions mean is open; ``candidates`` are in order of name and id.
    """

    entity: Entity
    candidates: tuple[Entity, ...]


async def compared(
    store: GraphStore, reader: Reader, *, threshold: float = ALIKE, limit: int | None = None
) -> Comparison:
    """Compare the names of all visible entities, except those of exact names such as code.

    At most ``limit`` pairs are returned, by default as many as there are entities: enough for a rate.
    """
    entities, by_rules = await _by_rules(store, reader)
    limit = len(entities) if limit is None else limit
    apart = {frozenset((one, other)) for one, others in by_rules.candidates.items() for other in others}
    similar = await _similar(store, reader, threshold, limit, apart)
    ordered = await asyncio.to_thread(_ordered, similar, by_rules.pairs, entities, threshold)
    return Comparison(len(entities), tuple(ordered[:limit]), by_rules.ambiguous)


def _ordered(
    similar: Iterable[Duplicate], alike: Iterable[Alike[UUID]], entities: Mapping[UUID, Entity], threshold: float
) -> list[Duplicate]:
    """The pairs by letters and by rules, the most alike first."""
    found = {_key(each): each for each in similar}
    for each in alike:
        pair = _judged(entities[each.one], entities[each.other], each, threshold)
        if pair.similarity > threshold:
            found.setdefault(_key(pair), pair)
    return sorted(found.values(), key=lambda each: (-each.similarity, each.one.id, each.other.id))


async def ambiguities(store: GraphStore, reader: Reader) -> list[Ambiguity]:
    """The visible entities that may be several visible people, in order of name and id."""
    entities, by_rules = await _by_rules(store, reader)
    candidates = {id_: [entities[other] for other in others] for id_, others in by_rules.candidates.items()}
    found = [Ambiguity(entities[id_], tuple(sorted(people, key=_by_name))) for id_, people in candidates.items()]
    return sorted(found, key=lambda each: _by_name(each.entity))


def _by_name(entity: Entity) -> tuple[str, UUID]:
    return entity.name, entity.id


async def _by_rules(store: GraphStore, reader: Reader) -> tuple[Mapping[UUID, Entity], Findings[UUID]]:
    """All visible entities, except those of exact names, and what the rules of names find among them."""
    entities = {each.id: each for each in await reader.unmerged_entities(without=EXACT_TYPES)}
    named = [Named(each.id, each.type, (each.name, *each.aliases)) for each in entities.values()]
    marked = frozenset(frozenset(pair) for pair in await store.distinct_pairs(sorted(entities)))
    return entities, await asyncio.to_thread(alike, named, marked)


async def _similar(
    store: GraphStore, reader: Reader, threshold: float, limit: int, apart: Collection[frozenset[UUID]]
) -> Sequence[Duplicate]:
    """The visible pairs of one visible type with similar visible names: widened until enough are visible.

    ``apart`` are pairs of an ambiguous name and somebody who is called so, which are left out.
    """
    requested = limit
    while True:
        pairs = await store.similar_pairs(threshold=threshold, limit=requested, without=sorted(EXACT_TYPES))
        alike_enough = [pair for pair in pairs if pair.similarity > threshold]
        whole = [pair for pair in alike_enough if frozenset((pair.one_id, pair.other_id)) not in apart]
        found = await _visible(whole, threshold, reader)
        if len(found) >= limit or len(pairs) < requested:
            return found
        requested *= 2


async def _visible(pairs: Sequence[SimilarPair], threshold: float, reader: Reader) -> list[Duplicate]:
    ids = sorted({id_ for pair in pairs for id_ in (pair.one_id, pair.other_id)})
    entities = {each.id: each for each in await reader.get_entities(ids)}
    hides = reader.hides

    def found() -> list[Duplicate]:
        some = [
            Duplicate(
                one=one, other=other, similarity=_similarity(one, other, stored=None if hides else pair.similarity)
            )
            for pair in pairs
            if (one := entities.get(pair.one_id)) and (other := entities.get(pair.other_id)) and one.type == other.type
        ]
        return [each for each in some if each.similarity > threshold and is_comparable(each.one.type)]

    return await asyncio.to_thread(found)


def _similarity(one: Entity, other: Entity, *, stored: float | None = None) -> float:
    """The similarity of the most similar names, as ``stored`` if that is known and they are not two people.

    Of two people, parts of names count for nothing: they may share them.
    """
    people = _may_share_part(one, other)
    if stored is not None and not people:
        return stored
    names, others = ([folded_name(name) for name in _compared_names(entity)] for entity in (one, other))
    if people:
        names, others = _whole_names(names), _whole_names(others)
    return max((similarity(name, each) for name in names for each in others), default=0.0)


def _may_share_part(one: Entity, other: Entity) -> bool:
    """Whether two entities are people who both have a whole name: both may be called "Anna"."""
    return one.type == other.type == "person" and all(_whole_names(_compared_names(each)) for each in (one, other))


def _compared_names(entity: Entity) -> Sequence[str]:
    """The names of an entity that are compared with others': its own and its first aliases."""
    return (entity.name, *entity.aliases[: MAX_COMPARED - 1])


def _whole_names(names: Iterable[str]) -> list[str]:
    return [name for name in names if not read(name, "person").partial]


def _judged(one: Entity, other: Entity, found: Alike[UUID], threshold: float) -> Duplicate:
    """A pair that a rule has found; by its letters if these are similar enough, as the store finds it."""
    low, high = sorted((one, other), key=lambda each: each.id)
    letters = _similarity(one, other) if one.type == other.type else 0.0
    if letters > threshold:
        return Duplicate(one=low, other=high, similarity=letters)
    return Duplicate(one=low, other=high, similarity=found.score, likeness=found.likeness)


def _key(pair: Duplicate) -> tuple[UUID, UUID]:
    return pair.one.id, pair.other.id
