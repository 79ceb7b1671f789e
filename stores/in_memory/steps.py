"""Flat arrays for steps: relations by their ends, their support, mentions, and turns of sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

import attrs
import numpy as np

from graphsearch.columns import Codes, Expansion, FarEnds, Floats, Hits, Keys, Mask
from graphsearch.model import ElementKind, View
from graphsearch.stores.in_memory.columns import (
    Listing,
    Rows,
    Visibility,
    column,
    feedback,
    fresh_rows,
    listing,
    signature_numbers,
    sorted_rows,
    types,
    visibility,
)
from graphsearch.stores.in_memory.versions import Former, Version, made_of

# -- relations --------------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Ends:
    """The rows of the entities at both ends of each relation."""

    of: Rows
    """Marks of relations."""
    entities: Rows
    """Marks of all entities."""
    source: Rows
    target: Rows


@made_of("entity", "relation")
def ends(version: Version, former: Former[Ends] | None) -> Ends:
    """The ends of all relations."""
    relations, entities = version.made(listing, "relation"), version.made(listing, "entity")
    if former is not None:
        origins = relations.origins(former.value.of, former.changed("relation"))
        if (fresh := fresh_rows(relations, origins)) is not None:
            source, target = former.value.source.take(origins), former.value.target.take(origins)
            if entities.marks is not former.value.entities:
                places = _places(former.value.entities, entities, former.changed("entity"))
                source, target = places.take(source), places.take(target)
            new = origins < 0
            source[new], target[new] = _ends_of(version.some("relation", fresh), entities)
            return Ends(relations.marks, entities.marks, source, target)
    found = _ends_of(version.made(sorted_rows, "relation"), entities)
    return Ends(relations.marks, entities.marks, *found)


def _ends_of(rows: Sequence[Any], entities: Listing) -> tuple[Rows, Rows]:
    sources, targets = ([*map(attrgetter(f"relation.{name}"), rows)] for name in ("source_id", "target_id"))
    return entities.places(sources), entities.places(targets)


def _places(former: Rows, now: Listing, changed: Rows) -> Rows:
    """The present row of each former one, by its mark; 0 for those that are gone."""
    places = np.zeros(len(former), np.int64)
    origins = now.origins(former, changed)
    kept = np.flatnonzero(origins >= 0)
    places[origins.take(kept)] = kept
    rewritten = np.flatnonzero(origins < 0)
    _, old, new = np.intersect1d(former, now.marks.take(rewritten), return_indices=True)
    places[old] = rewritten.take(new)
    return places


@attrs.frozen(eq=False)
class Adjacency:
    """The ends of every relation, and every relation twice, from its source and from its target, in one sequence.

    Slot 2 · entity holds the outgoing relations of the entity, slot 2 · entity + 1 the incoming ones, strongest
    first: greatest confidence × prior, ties by row. Slot s is ``[pointers[s], pointers[s + 1])``.
    """

    source: Rows
    target: Rows
    pointers: Rows
    relations: Rows
    far: Rows
    """The entity at the other end."""
    begins: Rows
    """The start of both slots of each entity: of shape (entities, 2)."""
    sizes: Rows
    """The number of relations in them: of the same shape."""

    @classmethod
    def of(cls, source: Rows, target: Rows, weight: Floats, entities: int) -> Adjacency:
        """Build from relations between rows of so many entities; ``weight`` is confidence × prior."""
        rank = np.empty(len(weight), np.int64)
        rank[np.argsort(-weight, kind="stable")] = np.arange(len(weight))
        slots = np.concatenate([2 * source, 2 * target + 1])
        order = np.argsort(slots * max(len(weight), 1) + np.tile(rank, 2))  # by one number: no two are equal
        pointers = np.concatenate(([0], np.bincount(slots, minlength=2 * entities).cumsum()))
        return cls(
            source=source,
            target=target,
            pointers=pointers,
            begins=pointers[:-1].reshape(-1, 2),
            sizes=np.diff(pointers).reshape(-1, 2),
            relations=np.where(order < len(weight), order, order - len(weight)),
            far=np.concatenate([target, source])[order],
        )

    def strongest(self, keys: Keys, fan_out: int, seen: Mask | None) -> tuple[Rows, Rows]:
        """Positions in the sequence, at most ``fan_out`` per slot of a frontier, and the frontier slot of each.

        Frontier slots are 2 · row of the frontier, and + 1 for incoming relations. Only relations seen count.
        """
        begin, size = self.begins.take(keys, axis=0).ravel(), self.sizes.take(keys, axis=0).ravel()
        if seen is None:
            return _windows(begin, np.minimum(size, max(fan_out, 0)))
        places, owner = _windows(begin, size)
        passed = seen.take(self.relations.take(places))
        places, owner = places[passed], owner[passed]
        rank = np.arange(len(owner)) - np.searchsorted(owner, np.arange(len(size)))[owner]
        return places[rank < fan_out], owner[rank < fan_out]


@made_of("entity", "relation", "scope", lasts=False)
def adjacency(version: Version) -> Adjacency:
    """The relations at every entity, with the priors of their types."""
    both, typed = version.made(ends), version.made(types)
    priors = np.ones(max(typed.numbers.values(), default=0) + 1)
    for name, type_ in version.scope.types.items():
        if (number := typed.numbers.get(hash(name))) is not None:
            priors[number] = type_.prior
    confidence = version.made(column, "relation", "confidence", 0.0).values
    return Adjacency.of(both.source, both.target, confidence * priors.take(typed.values), len(both.entities))


def _windows(begin: Rows, count: Rows) -> tuple[Rows, Rows]:
    """The numbers from each of ``begin`` on, ``count`` of them, and the window index of each."""
    window = np.arange(len(count)).repeat(count)
    shifted: Rows = (begin - count.cumsum() + count).take(window)
    return shifted + np.arange(len(window)), window


@attrs.frozen(eq=False)
class Support:
    """The times that the freshness of relations is measured from."""

    newest: Floats
    """Epoch seconds of the newest support by row, NaN if there is none."""
    otherwise: Floats
    """Start, else creation."""
    latest: float
    """The newest support of all."""
    by_latest: Floats
    """The reference time of freshness at any later moment."""

    def since(self, version: Version, relations: Rows, as_of: float) -> Floats:
        """The newest support at a moment, else start, else creation."""
        if as_of >= self.latest:
            return self.by_latest.take(relations)
        newest = self.newest[relations]
        since: Floats = np.where(newest <= as_of, newest, self.otherwise[relations])
        late = newest > as_of
        rows, times = version.made(dated_evidence)
        before = times <= as_of
        if before.any():
            rows, times = rows[before], times[before]
            wanted = relations[late]
            place = np.searchsorted(rows, wanted, side="right") - 1
            there = (place >= 0) & (rows[place] == wanted)
            since[late] = np.where(there, times[place], since[late])
        return since


@made_of("relation", lasts=False)
def support(version: Version) -> Support:
    """The support of all relations."""
    newest, start, created = (
        version.made(column, "relation", name, np.nan).values for name in ("supported_at", "valid_from", "created_at")
    )
    otherwise = np.nan_to_num(np.where(np.isnan(start), created, start), nan=0.0)
    return Support(
        newest=newest,
        otherwise=otherwise,
        latest=float(np.fmax.reduce(newest, initial=-np.inf)),
        by_latest=np.where(np.isnan(newest), otherwise, newest),
    )


@made_of("relation", "memory", lasts=False)
def dated_evidence(version: Version) -> tuple[Rows, Floats]:
    """A row and a time for every dated memory behind a relation, in order of both."""
    memories = version.all("memory")
    dated = sorted(
        (row, memories[key].memory.occurred_at.timestamp())
        for row, each in enumerate(version.made(sorted_rows, "relation"))
        for key in each.relation.evidence
        if key in memories and memories[key].memory.occurred_at
    )
    return np.array([row for row, _ in dated], np.int64), np.array([time for _, time in dated], np.float64)


@made_of("relation", "entity", lasts=False)
def degrees(version: Version) -> Rows:
    """The number of unretracted relations of every entity, by row."""
    both, live = version.made(ends), version.made(column, "relation", "retracted_at", np.inf).values == np.inf
    size = len(both.entities)
    return np.bincount(both.source[live], minlength=size) + np.bincount(both.target[live], minlength=size)


@attrs.frozen(eq=False)
class Ground:
    """The arrays behind steps over relations."""

    codes: Codes
    entities_seen: Visibility
    relations_seen: Visibility
    edges: Adjacency
    support: Support
    ends: FarEnds
    """All entities."""
    feedback: Floats

    def steps(
        self,
        version: Version,
        relations: Rows,
        far: Rows,
        view: View,
        *,
        starts: Keys,
        start: Rows,
        outgoing: Mask,
        located: Hits | None = None,
    ) -> Expansion:
        """Relations as steps to the entities at their far ends."""
        holds = self.entities_seen.seen(view)
        return Expansion(
            starts=starts,
            start=start,
            ends=self.ends,
            end=far,
            outgoing=outgoing,
            relations=relations,
            confidence=self.relations_seen.confidence.take(relations),
            since=self.support.since(version, relations, view.as_of.timestamp()),
            feedback=self.feedback.take(relations),
            signatures=self.codes.take(relations),
            far_holds=None if holds is None else holds.take(far),
            located=located,
        )


@made_of("entity", "relation", "memory", "scope", "relation_weight", lasts=False)
def ground(version: Version) -> Ground:
    """All of it, for one version."""
    return Ground(
        codes=version.made(signature_numbers, ElementKind.RELATION).values,
        entities_seen=version.made(visibility, ElementKind.ENTITY),
        relations_seen=version.made(visibility, ElementKind.RELATION),
        edges=version.made(adjacency),
        support=version.made(support),
        ends=FarEnds(
            keys=np.arange(len(version.made(listing, ElementKind.ENTITY).ids)),
            signatures=version.made(signature_numbers, ElementKind.ENTITY).values,
            importance=version.made(column, ElementKind.ENTITY, "importance_weight", 0.0).values,
        ),
        feedback=version.made(feedback, ElementKind.RELATION).values,
    )


# -- mentions and sessions --------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Side:
    """The neighbours of the rows of one kind: those of row r are ``[pointers[r], pointers[r + 1])`` of the columns."""

    pointers: Rows
    far: Rows
    times: Floats
    about: Mask


@made_of("entity", "memory", "mention", lasts=False)
def mentions(version: Version) -> Mapping[str, Side]:
    """Every pair of a memory and an entity that it mentions, by the kind that steps begin at."""
    memories, entities = version.made(listing, "memory"), version.made(listing, "entity")
    every, size = list(version.all("mention").values()), len(entities.ids)
    memory = memories.places([each.mention.memory_id for each in every])
    entity = entities.places([each.entity_id for each in every])
    whole = np.fromiter((each.mention.span is None for each in every), np.bool_, len(every))
    pairs, which, times = np.unique(memory * size + entity, return_inverse=True, return_counts=True)
    about = np.bincount(which, whole, len(pairs)) > 0
    near, far = (pairs // size, pairs % size) if size else (pairs, pairs)
    return {
        ElementKind.MEMORY: _side(near, far, times, about, len(memories.ids)),
        ElementKind.ENTITY: _side(far, near, times, about, size),
    }


def _side(near: Rows, far: Rows, times: Rows, about: Mask, size: int) -> Side:
    order = np.lexsort((far, near))
    pointers = np.searchsorted(near[order], np.arange(size + 1))
    return Side(pointers, far[order], times[order].astype(np.float64), about[order])


@made_of("memory", lasts=False)
def sessions(version: Version) -> tuple[Rows, Rows]:
    """For each memory the one before and the one after it in its session, or -1: by position, ties by id."""
    memories = [row.memory for row in version.made(sorted_rows, "memory")]
    before, after = (np.full(len(memories), -1, np.int64) for _ in range(2))
    placed: list[tuple[Any, ...]] = sorted(
        (each.session_id, each.position, row) for row, each in enumerate(memories) if each.session_id
    )
    for _, turns in groupby(placed, key=lambda each: each[0]):
        rows = np.array([row for *_, row in turns])
        before[rows[1:]] = rows[:-1]
        after[rows[:-1]] = rows[1:]
    return before, after
