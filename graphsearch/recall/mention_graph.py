"""The part of the graph of mentions that a walk may reach, gathered by frontiers, never the whole of it."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.access.searches import mentioned
from graphsearch.columns import NONE, Floats, Keys, Mask, Mentioned, Rows
from graphsearch.columns.key_index import Places, distinct
from graphsearch.model import ElementKind
from graphsearch.recall.scoreboard import best_first

ROUNDS: Final = 2
"""How often memories lead to entities, and these to memories: what lies farther gets next to nothing of a walk."""
FRONTIER: Final = 500
"""Memories, and entities, that a round goes on from at most: those that most of the walk so far arrives at."""
WIDER: Final = 3
"""How often that many is doubled where some of the memories may be hidden, as other searches are."""
MENTIONED: Final = 100
"""An entity in more memories than this is walked past however many there are: it costs the most and tells the least."""
NAMES: Final = 1_000
"""So is a memory that names more entities than this."""


@attrs.frozen(eq=False, kw_only=True)
class MentionGraph:
    """Memories and entities, and the mentions between rows of them."""

    memories: Keys
    entities: Keys
    memory: Rows
    """Of each mention, the row of its memory."""
    entity: Rows
    times: Floats
    about: Mask

    @property
    def frequency(self) -> Floats:
        """How many memories mention each entity."""
        return np.bincount(self.entity, minlength=len(self.entities)).astype(np.float64)


async def gather(memories: Keys, masses: Floats, entities: Keys, limit: int, reader: Reader) -> MentionGraph:
    """What lies within some steps of memories, with their share of the start, and of entities.

    Entities that more than ``limit`` memories mention are not walked through. Every entity that is has all of its
    visible memories in the graph, in which those given come first, in their order.
    """
    known_memories, known_entities = Places(memories), Places(entities[:0])
    frontier, mass, next_entities = memories, masses, entities
    found: list[tuple[Rows, Rows, Floats, Mask]] = [_NOTHING]
    for _ in range(ROUNDS):
        told = await mentioned(ElementKind.MEMORY, frontier, NAMES, reader)
        unknown = known_entities.of(told.far) == NONE
        reached = _strongest(told.far[unknown], _shares(told.near, frontier, mass)[unknown])
        fresh = _added(known_entities, np.concatenate((next_entities, reached)))
        if not len(fresh):
            break
        back = await _mentioning(fresh, limit, reader)
        before, rows = len(known_memories), known_memories.number(back.far)
        found.append((rows, known_entities.of(back.near), back.times, back.about))
        # Those added are numbered in order of their keys, and numbers are compared faster than these.
        added = rows >= before
        frontier = known_memories.keys[_strongest(rows[added], _shares(back.near, fresh, np.ones(len(fresh)))[added])]
        mass, next_entities = np.ones(len(frontier)), fresh[:0]
    memory, entity, times, about = map(np.concatenate, zip(*found, strict=True))
    return MentionGraph(
        memories=known_memories.keys,
        entities=known_entities.keys,
        memory=memory,
        entity=entity,
        times=times,
        about=about,
    )


_NOTHING: Final = (np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0), np.empty(0, np.bool_))


async def _mentioning(entities: Keys, limit: int, reader: Reader) -> Mentioned:
    """The visible memories that mention some entities, none of those that are in more than ``limit`` of them.

    A store counts the hidden ones too. So behind a gate it is asked for some times as many.
    """
    if not reader.gatekeeper.hides:
        return await mentioned(ElementKind.ENTITY, entities, limit, reader)
    found = await mentioned(ElementKind.ENTITY, entities, limit << WIDER, reader)
    near = Places(entities).of(found.near)
    return found.keep((np.bincount(near, minlength=len(entities)) <= limit).take(near))


def _added(known: Places, keys: Keys) -> Keys:
    """Those of some keys that were not known, which are now: each once, in order."""
    before = len(known)
    known.number(keys)
    added: Keys = known.keys[before:]
    return added


def _shares(near: Keys, frontier: Keys, mass: Floats) -> Floats:
    """What each step carries of the mass of the end that it starts from, which its steps share."""
    rows = Places(frontier).of(near)
    share = mass / np.maximum(np.bincount(rows, minlength=len(frontier)), 1)
    carried: Floats = share.take(rows)
    return carried


def _strongest(far: Keys, carried: Floats) -> Keys:
    """The ends of steps that most is carried to, at most `FRONTIER`, in order of key."""
    ends, which = distinct(far)
    if len(ends) <= FRONTIER:
        return ends
    arriving = np.bincount(which, carried, len(ends)).astype(np.float64)
    best: Keys = np.sort(ends[best_first(arriving, ends, FRONTIER)])
    return best
