"""Visible entities that may be one: by the letters of their names, and by the rules of names."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import combinations, product
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.reader import Reader
from graphsearch.claims.naming import MAX_TRIGRAMS, folded_name, prefix_lengths, refuse_threshold, sizes
from graphsearch.model import Entity
from graphsearch.names.candidate_index import MAX_COMPARED
from graphsearch.names.likeness import EXACT_TYPES, Findings, Likeness, Named, alike
from graphsearch.names.typed_names import read
from graphsearch.stores.graph import GraphStore
from graphsearch.text.trigrams import overlap, similarity, trigrams

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

    At most ``limit`` pairs are returned, by default all. Raises `InvalidInputError` for a threshold not in [0.6, 1].
    """
    refuse_threshold(threshold, limit or 0)
    entities, marked = await _comparable(store, reader)

    def found() -> Comparison:
        by_rules = _by_rules(entities, marked)
        apart = {frozenset((one, other)) for one, others in by_rules.candidates.items() for other in others}
        alike_enough = _by_letters(entities, marked | apart, threshold)
        for each in by_rules.pairs:
            pair = frozenset((each.one, each.other))
            if pair not in alike_enough and each.score > threshold:
                low, high = sorted((entities[each.one], entities[each.other]), key=lambda one: one.id)
                alike_enough[pair] = Duplicate(one=low, other=high, similarity=each.score, likeness=each.likeness)
        ordered = sorted(alike_enough.values(), key=lambda each: (-each.similarity, each.one.id, each.other.id))
        return Comparison(len(entities), tuple(ordered[:limit]), by_rules.ambiguous)

    return await asyncio.to_thread(found)


async def ambiguities(store: GraphStore, reader: Reader) -> list[Ambiguity]:
    """The visible entities that may be several visible people, in order of name and id."""
    entities, marked = await _comparable(store, reader)
    by_rules = await asyncio.to_thread(_by_rules, entities, marked)
    candidates = {id_: [entities[other] for other in others] for id_, others in by_rules.candidates.items()}
    found = [Ambiguity(entities[id_], tuple(sorted(people, key=_by_name))) for id_, people in candidates.items()]
    return sorted(found, key=lambda each: _by_name(each.entity))


def _by_name(entity: Entity) -> tuple[str, UUID]:
    return entity.name, entity.id


Pair = frozenset[UUID]


async def _comparable(store: GraphStore, reader: Reader) -> tuple[Mapping[UUID, Entity], frozenset[Pair]]:
    """All visible entities, except those of exact names, and the pairs marked as distinct."""
    entities = {each.id: each for each in await reader.unmerged_entities(without=EXACT_TYPES)}
    return entities, frozenset(map(frozenset, await store.distinct_pairs(sorted(entities))))


def _by_rules(entities: Mapping[UUID, Entity], marked: Collection[Pair]) -> Findings[UUID]:
    return alike([Named(each.id, each.type, (each.name, *each.aliases)) for each in entities.values()], marked)


def _by_letters(entities: Mapping[UUID, Entity], apart: Collection[Pair], threshold: float) -> dict[Pair, Duplicate]:
    """The pairs of one type with names more similar than a threshold, except those that are ``apart``.

    Of two people, parts of names count for nothing: they may share them.
    """
    called: defaultdict[str, set[UUID]] = defaultdict(set)
    for each in entities.values():
        for name in _compared_names(each):
            called[folded_name(name)].add(each.id)
    best: dict[Pair, float] = {}
    for one, other, score in similar_names(called, threshold):
        for ids in combinations(called[one], 2) if one == other else product(called[one], called[other]):
            best[frozenset(ids)] = max(score, best.get(frozenset(ids), 0.0))
    found = {}
    for pair, score in best.items():
        if len(pair) > 1 and pair not in apart:
            low, high = (entities[id_] for id_ in sorted(pair))
            of_people = _similarity_of_people(low, high)
            letters = score if of_people is None else of_people
            if low.type == high.type and letters > threshold:
                found[pair] = Duplicate(one=low, other=high, similarity=letters)
    return found


def similar_names(names: Iterable[str], threshold: float) -> Iterator[tuple[str, str, float]]:
    """Similar folded names, each pair once, and each name with itself.

    Prefix filters, as in `graphsearch.claims.naming`; the order of trigrams is the best one, the rarest first.
    """
    sets = {name: found for name in names if 0 < len(found := trigrams(name)) <= MAX_TRIGRAMS}
    often = Counter(trigram for each in sets.values() for trigram in each)
    met: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for name, own in sorted(sets.items(), key=lambda item: len(item[1])):  # the smaller before the larger
        yield name, name, 1.0
        ordered, size = sorted(own, key=lambda trigram: (often[trigram], trigram)), len(own)
        for other in range(sizes(size, threshold).start, size + 1):
            prefix = ordered[: prefix_lengths(size, other, threshold)[0]]
            for each in set[str]().union(*(met.get((trigram, other), ()) for trigram in prefix)):
                if (score := overlap(own, sets[each])) >= threshold:
                    yield name, each, score
        for trigram in ordered[: prefix_lengths(size, size, threshold)[0]]:  # no larger name shares but a later one
            met[trigram, size].append(name)


def _similarity_of_people(one: Entity, other: Entity) -> float | None:
    """That of two people who both have a whole name, of these: both may be called "Anna"; else None."""
    if not one.type == other.type == "person":
        return None
    found = (similarity(*both) for both in product(_whole_names(one), _whole_names(other)))
    return max(found, default=None)


def _compared_names(entity: Entity) -> Sequence[str]:
    """The names of an entity that are compared with others': its own and its first aliases."""
    return (entity.name, *entity.aliases[: MAX_COMPARED - 1])


def _whole_names(entity: Entity) -> list[str]:
    folded = map(folded_name, _compared_names(entity))
    return [name for name in folded if not read(name, "person").partial]
