"""Lookups of visible entities by their visible names, and what is stored of elements to compare them by."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from uuid import UUID

import attrs
import numpy as np

from graphsearch._support.concurrency import aside
from graphsearch.access.window import ROUNDS, Window
from graphsearch.claims.naming import folded_name
from graphsearch.columns import Keys, Mask
from graphsearch.model import ElementKind, Entity, Named, NameMatch, Relation, SimilarName, Vector
from graphsearch.text.bm25 import embedding_text
from graphsearch.text.trigrams import name_words, similarity


class Lookups(Window):
    """Lookups of the visible; hidden names find nothing. Entities are found whether they hold or not."""

    # -- by name -------------------------------------------------------------------------------------------------

    async def find_names(self, names: Sequence[str]) -> list[NameMatch]:
        """As `GraphStore.find_names`."""
        return await self._visible_matches(await self._store.find_names(names), _whole)

    async def find_name_words(self, words: Sequence[str], *, prefix: bool = False, limit: int = 50) -> list[NameMatch]:
        """As `GraphStore.find_name_words`, for each word among the first matches of `ROUNDS` searches."""
        kept: list[NameMatch] = []
        wide, left = limit, list(words)
        for _ in range(ROUNDS):
            stored = await self._store.find_name_words(left, prefix=prefix, limit=wide)
            found = await self._visible_matches(stored, name_words, prefix=prefix)
            if self._gatekeeper.allows_all:
                return found
            proposed, visible = Counter(each.name for each in stored), Counter(each.name for each in found)
            short = {word for word in left if proposed[word] >= wide and visible[word] < limit}
            kept = [*(each for each in kept if each.name not in left), *first_matches(found, limit)]
            left = [word for word in left if word in short]
            wide *= 2
            if not left:
                break
        return sorted(kept, key=lambda each: (each.entity_id, each.name))

    async def named(self, names: Sequence[str], words: Sequence[str], *, limit: int) -> Named:
        """The entities with one of some names, or with one of some words in less than ``limit`` visible names.

        Hidden entities do not make a word common.
        """
        if self._gatekeeper.allows_all:
            return await self._store.named(names, words, limit=limit, view=self.view)
        whole = await self.find_names(names) if names else []
        partly = await self.find_name_words(words, limit=limit) if words else []
        having = Counter(match.name for match in partly)
        matches = [*whole, *(match for match in partly if having[match.name] < limit)]
        hits = await self.locate(sorted({match.entity_id for match in matches}))
        return Named(matches=matches, hits=hits, entities=await self.entities(hits.keys))

    async def similar_names(
        self, names: Sequence[str], *, threshold: float, limit: int = 20
    ) -> Mapping[str, Sequence[SimilarName]]:
        """As `GraphStore.similar_names`, for each name among the most similar ones of `ROUNDS` searches."""
        kept: dict[str, Sequence[SimilarName]] = {}
        wide, left = limit, list(names)
        for _ in range(ROUNDS):
            stored = await self._store.similar_names(left, threshold=threshold, limit=wide)
            if self._gatekeeper.allows_all:
                return stored
            forms = await self._forms({each.entity_id for found in stored.values() for each in found})
            for name in left:
                kept[name] = _most_similar(name, stored.get(name, ()), forms, threshold)[:limit]
            left = [name for name in left if len(stored.get(name, ())) == wide and len(kept[name]) < limit]
            wide *= 2
            if not left:
                break
        return kept

    async def _visible_matches(
        self, matches: Sequence[NameMatch], keys_of: Callable[[str], Iterable[str]], *, prefix: bool = False
    ) -> list[NameMatch]:
        """The matches of visible entities by a visible name, of which ``keys_of`` gives what it is found by."""
        if self._gatekeeper.allows_all or not matches:
            return list(matches)
        forms = await self._forms({match.entity_id for match in matches})
        size = sum(len(form.aliases) for form in forms.values() if form)
        return await aside(lambda: _seen(matches, forms, keys_of, prefix=prefix), size)

    async def _forms(self, ids: set[UUID]) -> Mapping[UUID, Entity | None]:
        """The visible ones of some entities: their visible form if it may differ from the stored one, else None."""
        forms: dict[UUID, Entity | None] = dict.fromkeys(await self.visible_ids(ids))
        partial = [id_ for id_ in forms if self._gatekeeper.entities.is_partial(id_)]
        forms.update((each.id, each) for each in await self.get_entities(sorted(partial)))
        return forms

    # -- by key --------------------------------------------------------------------------------------------------

    async def words(self, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, float]]:
        """As `GraphStore.words`; none for an entity that hidden memories mention, since they may be theirs."""
        whole = [id_ for id_ in ids if not self._gatekeeper.entities.is_partial(id_)]
        return await self._store.words(whole)

    async def vectors(self, kind: ElementKind, keys: Keys) -> Vector:
        """As `GraphStore.vectors`, of the visible texts; zeros where these differ and the reader cannot embed.

        What is stored without a vector has none, however else its visible text reads.
        """
        vectors = await self._store.vectors(kind, keys)
        if not self.changes(kind) or not vectors.size:
            return vectors
        changed = np.flatnonzero(vectors.any(axis=1) & ~await self._unchanged(kind, keys))
        if len(changed):
            shown = await (self.entities if kind is ElementKind.ENTITY else self.relations)(keys[changed])
            vectors = vectors.copy()
            vectors[changed] = await self._embedded([embedding_text(each) for each in shown])
        return vectors

    async def _unchanged(self, kind: ElementKind, keys: Keys) -> Mask:
        """Which visible entities or relations have the text that is stored, without anything hidden."""
        if kind is ElementKind.RELATION:
            relations: Sequence[Relation] = await self._stored(kind, keys)
            facts = [each and each.fact for each in self._evidence.stated(relations, self.view)]
            return np.array([each.fact == fact for each, fact in zip(relations, facts, strict=True)], np.bool_)
        unchanged = np.ones(len(keys), np.bool_)
        if len(partial := self._partial(keys)):
            stored: Sequence[Entity] = await self._stored(kind, keys[partial])
            pairs = zip(stored, await self._gatekeeper.entities.admitted(stored), strict=True)
            unchanged[partial] = [embedding_text(then) == embedding_text(now) for then, now in pairs]
        return unchanged


def _seen(
    matches: Iterable[NameMatch],
    forms: Mapping[UUID, Entity | None],
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
        written = folded_name(match.name) if keys_of is _whole else match.name
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


def _whole(name: str) -> tuple[str]:
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


def _most_similar(
    name: str, stored: Sequence[SimilarName], forms: Mapping[UUID, Entity | None], threshold: float
) -> list[SimilarName]:
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
