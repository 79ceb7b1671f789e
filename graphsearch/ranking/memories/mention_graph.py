"""The part of the graph of mentions that a walk may reach, read by frontiers, never the whole of it."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Floats, Keys, Mask, Mentioned, Rows
from graphsearch.columns.key_index import KeyIndex, distinct
from graphsearch.model import ElementKind
from graphsearch.ranking.memories.scoreboard import best_first

ROUNDS: Final = 2
"""Rounds of memories to entities and back: almost nothing of a walk goes further."""
FRONTIER: Final = 500
"""Most memories, and entities, that a round expands: those with most of the mass so far."""
WIDER: Final = 3
"""Number of times that limit is doubled if some memories may be hidden, as in other searches."""
MENTIONED: Final = 100
"""Entities in more memories than this are never walked through: they cost the most and indicate the least."""
NAMES: Final = 1_000
"""Likewise memories with more entities than this."""


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
        """The number of memories that mention each entity."""
        return np.bincount(self.entity, minlength=len(self.entities)).astype(np.float64)


async def gather(memories: Keys, masses: Floats, entities: Keys, limit: int, reader: Reader) -> MentionGraph:
    """The graph within some steps of memories, with their share of the start, and of entities.

    Entities that more than ``limit`` memories mention are not walked through. Every other entity has all of its visible
    memories in the graph; the given memories come first, in their order.
    """
    known_memories, known_entities = KeyIndex(memories), KeyIndex(entities[:0])
    frontier, mass, next_entities = memories, masses, entities
    found: list[tuple[Rows, Rows, Floats, Mask]] = [_NOTHING]
    for _ in range(ROUNDS):
        mentions = await reader.mentioned(ElementKind.MEMORY, frontier, NAMES)
        unknown = known_entities.of(mentions.far) == NONE
        reached = _strongest(mentions.far[unknown], _shares(mentions.near, frontier, mass)[unknown])
        fresh = _added(known_entities, np.concatenate((next_entities, reached)))
        if not len(fresh):
            break
        back = await _mentioning(fresh, limit, reader)
        before, rows = len(known_memories), known_memories.number(back.far)
        found.append((rows, known_entities.of(back.near), back.times, back.about))
        # new ones are numbered in order of their keys, and numbers compare faster than keys
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
    """The visible memories that mention some entities, without entities in more than ``limit`` of them.

    A store counts hidden memories too. So behind a gate the limit passed to it is some times as high.
    """
    if not reader.hides:
        return await reader.mentioned(ElementKind.ENTITY, entities, limit)
    found = await reader.mentioned(ElementKind.ENTITY, entities, limit << WIDER)
    near = KeyIndex(entities).of(found.near)
    return found.keep((np.bincount(near, minlength=len(entities)) <= limit).take(near))


def _added(known: KeyIndex, keys: Keys) -> Keys:
    """The distinct new keys, in order, which become known."""
    before = len(known)
    known.number(keys)
    added: Keys = known.keys[before:]
    return added


def _shares(near: Keys, frontier: Keys, mass: Floats) -> Floats:
    """The mass that each step passes on from its start, divided among the start's steps."""
    rows = KeyIndex(frontier).of(near)
    share = mass / np.maximum(np.bincount(rows, minlength=len(frontier)), 1)
    carried: Floats = share.take(rows)
    return carried


def _strongest(far: Keys, carried: Floats) -> Keys:
    """The ends of steps that receive the most mass, at most `FRONTIER`, in order of key."""
    ends, which = distinct(far)
    if len(ends) <= FRONTIER:
        return ends
    arriving = np.bincount(which, carried, len(ends)).astype(np.float64)
    best: Keys = np.sort(ends[best_first(arriving, ends, FRONTIER)])
    return best
