"""Matches by the names that may be seen: hidden names find nothing."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from uuid import UUID

import attrs
import numpy as np

from graphsearch._support.concurrency import aside
from graphsearch.claims.naming import folded_name
from graphsearch.columns import Mask
from graphsearch.model import Entity, NameMatch, SimilarName
from graphsearch.text.trigrams import name_words, similarity

Forms = Mapping[UUID, Entity | None]
"""The visible ones of some entities: the visible form of each if it may differ from the stored one, else None."""


async def seen(
    matches: Sequence[NameMatch], forms: Forms, keys_of: Callable[[str], Iterable[str]], *, prefix: bool = False
) -> list[NameMatch]:
    """The matches of visible entities by a visible name, of which ``keys_of`` gives what it is found by."""
    size = sum(len(form.aliases) for form in forms.values() if form)
    return await aside(lambda: _seen(matches, forms, keys_of, prefix=prefix), size)


def called(entities: Sequence[Entity], names: Collection[str], words: Collection[str]) -> Mask:
    """Which entities have one of some names, or one of some words in a name."""
    whole_names, own = set(map(folded_name, names)), set(words)
    return np.array(
        [
            any(folded_name(name) in whole_names or not own.isdisjoint(name_words(name)) for name in names_of)
            for names_of in ((each.name, *each.aliases) for each in entities)
        ],
        np.bool_,
    )


def _seen(
    matches: Iterable[NameMatch],
    forms: Forms,
    keys_of: Callable[[str], Iterable[str]],
    *,
    prefix: bool,
) -> list[NameMatch]:
    """The matches by a visible name; each name of an entity is read once, however many matches it has."""
    own = {id_: sorted(keys_of(form.name)) for id_, form in forms.items() if form}
    others = {
        id_: sorted({key for each in form.aliases for key in keys_of(each)}) for id_, form in forms.items() if form
    }
    found: list[NameMatch] = []
    for match in matches:
        written = folded_name(match.name) if keys_of is whole else match.name
        if forms.get(match.entity_id, match) is None:
            found.append(match)
        elif _has(own.get(match.entity_id, ()), written, prefix=prefix):
            found.append(attrs.evolve(match, alias=False))
        elif _has(others.get(match.entity_id, ()), written, prefix=prefix):
            found.append(attrs.evolve(match, alias=True))
    return found


def _has(keys: Sequence[str], written: str, *, prefix: bool) -> bool:
    """Whether one of some sorted keys is a word, or begins with it."""
    place = bisect_left(keys, written)
    return place < len(keys) and (keys[place].startswith(written) if prefix else keys[place] == written)


def whole(name: str) -> tuple[str]:
    """What a whole name is found by."""
    return (folded_name(name),)


def first_matches(matches: Sequence[NameMatch], limit: int) -> list[NameMatch]:
    """The matches with the lowest ids, at most ``limit`` for each name."""
    taken: Counter[str] = Counter()
    found = []
    for each in matches:
        if taken[each.name] < limit:
            taken[each.name] += 1
            found.append(each)
    return found


def rare_matches(matches: Sequence[NameMatch], limit: int) -> list[NameMatch]:
    """The matches by words that are in less than ``limit`` names."""
    having = Counter(match.name for match in matches)
    return [match for match in matches if having[match.name] < limit]


def most_similar(name: str, stored: Sequence[SimilarName], forms: Forms, threshold: float) -> list[SimilarName]:
    """The visible ones of some entities with similar names, best first, compared by their visible names."""
    wanted, found = folded_name(name), []
    for each in stored:
        if each.entity_id not in forms:
            continue
        if form := forms[each.entity_id]:
            best = max(similarity(wanted, folded_name(own)) for own in (form.name, *form.aliases))
            found.append(attrs.evolve(each, similarity=best))
        else:
            found.append(each)
    return sorted(
        (each for each in found if each.similarity >= threshold), key=lambda each: (-each.similarity, each.entity_id)
    )
