"""The graph channel: a walk from the entities that a question names, and from the memories that its words found.

The walk is personalised PageRank over memories and the entities they mention:

    p = ρ · start + (1 − ρ) · A p,   columns of A summing to 1

Mass goes from a memory to its entities in proportion to (1 + log tf) · idf, and from an entity to its memories
likewise, with those that are about it counting ``subject_weight`` times. Mass that starts at a memory without entities
reaches no other: it scales all of them alike. Haveliwala, Topic-Sensitive PageRank (2002).

It sees the entities that are named, their memories and the best ones, what these mention, and all memories that mention
that. Almost nothing of it goes further.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Floats, Hits, Keys, Mask, Mentioned, Rows
from graphsearch.columns.key_index import KeyIndex, among, distinct
from graphsearch.model import ElementKind, ElementRef
from graphsearch.question.analysis import Analysis, Anchor
from graphsearch.ranking.recall_result import RecallScoring
from graphsearch.ranking.scores import best_first, compared, rows_among
from graphsearch.text.bm25 import idf, searchable_text

FRONTIER: Final = 500
"""Most entities of the best memories that are walked through: those with most of the mass."""
MENTIONED: Final = 100
"""Entities in more memories than this are never walked through: they cost the most and indicate the least."""
NAMES: Final = 1_000
"""Likewise memories with more entities than this."""
WIDER: Final = 3
"""Number of times a limit is doubled if some memories may be hidden, as in other searches."""
FEW: Final = 5
"""An entity in this few memories is not common, however small the scope."""
NEAR: Final = 3
"""Most entities on the path reported for a memory."""
TOLERANCE: Final = 1e-6
MAX_ROUNDS: Final = 100
ECHO: Final = 1e-2
"""Ranks below this are noise of the unfinished iteration."""


@attrs.frozen(eq=False, kw_only=True)
class MentionGraph:
    """Memories and entities, and of each mention the rows of both, how often it occurs, and if it is the subject."""

    memories: Keys
    entities: Keys
    memory: Rows
    entity: Rows
    times: Floats
    about: Mask

    @cached_property
    def frequency(self) -> Floats:
        """The number of memories that mention each entity."""
        return np.bincount(self.entity, minlength=len(self.entities)).astype(np.float64)


@attrs.frozen(eq=False, kw_only=True)
class NamedEntities:
    """Distinct entities that a question names, their probabilities, and their visible memories.

    Entities in more than `MENTIONED` memories have none.
    """

    keys: Keys
    likely: Floats
    memories: Mentioned


async def gather(memories: Keys, masses: Floats, named: NamedEntities, limit: int, reader: Reader) -> MentionGraph:
    """The graph around memories, with their shares of the start, and around named entities.

    Entities that more than ``limit`` memories mention are not walked through. Every other entity has all of its visible
    memories in the graph; the given memories come first, in their order.
    """
    known, own = KeyIndex(memories), _in_at_most(limit, named.keys, named.memories)
    known.number(own.far)
    masses = np.append(masses, np.ones(len(known) - len(memories)))
    mentions = await reader.mentioned(ElementKind.MEMORY, known.keys, NAMES)
    passing = known.of(mentions.near)
    shares = masses / np.maximum(np.bincount(passing, minlength=len(masses)), 1)
    reached, which = distinct(mentions.far)
    arriving = np.bincount(which, shares.take(passing), len(reached)).astype(np.float64)
    (others,) = (~among(reached, named.keys)).nonzero()
    if len(others) > FRONTIER:
        others = others[best_first(arriving[others], reached[others], FRONTIER)]
    entities = np.append(named.keys, np.sort(reached[others]))
    found = await mentioning(entities[len(named.keys) :], limit, reader)
    memory = np.append(known.number(own.far), known.number(found.far))
    return MentionGraph(
        memories=known.keys,
        entities=entities,
        memory=memory,
        entity=KeyIndex(entities).of(np.append(own.near, found.near)),
        times=np.append(own.times, found.times),
        about=np.append(own.about, found.about),
    )


async def mentioning(entities: Keys, limit: int, reader: Reader) -> Mentioned:
    """The visible memories that mention some entities, without entities in more than ``limit`` of them.

    A store counts hidden memories too. So behind a gate the limit passed to it is some times as high.
    """
    if not reader.hides:
        return await reader.mentioned(ElementKind.ENTITY, entities, limit)
    return _in_at_most(limit, entities, await reader.mentioned(ElementKind.ENTITY, entities, limit << WIDER))


def _in_at_most(limit: int, entities: Keys, found: Mentioned) -> Mentioned:
    """The memories of those entities that are in so few."""
    near = KeyIndex(entities).of(found.near)
    return found.keep((np.bincount(near, minlength=len(entities)) <= limit).take(near))


@attrs.frozen(eq=False, kw_only=True)
class Walked:
    """The mass of the walk at each memory, and the data to explain how it came there.

    * ``ranks``: of each memory of the graph, in [0, 1]; the best is 1.
    * ``onward``: of each mention, the mass that arrives by it at its memory from elsewhere; ``back``, at its entity.
    * ``started``: the share of the start of each entity.
    * ``limit``: entities with more memories than this are not walked through.
    """

    graph: MentionGraph
    ranks: Floats
    onward: Floats
    back: Floats
    started: Floats
    limit: int

    def rare(self, reader: Reader) -> Mapping[UUID, float]:
        """The rarity of each entity that the walk starts from, in (0, 1]: 1 in one memory, near 0 at the limit."""
        (rows,) = (self.started > 0).nonzero()
        rare = 1.0 - np.log(self.graph.frequency[rows]) / np.log(self.limit + 1.0)
        return dict(zip(reader.entity_ids(self.graph.entities[rows]), rare.tolist(), strict=True))

    def paths_to(self, memories: Keys, reader: Reader) -> list[tuple[ElementRef, ...]]:
        """For some memories, the path along which most of the walk arrives at each.

        From a named entity, or from the memory walked back to; empty if no entity leads to it.
        """
        rows = rows_among(self.graph.memories, memories)
        trails = [self._trail(row) if row != NONE else [] for row in rows.tolist()]
        entities, passed = ([row for trail in trails for row in trail[side::2]] for side in (1, 0))
        names = dict(zip(entities, reader.entity_ids(self.graph.entities[entities]), strict=True))
        ids = dict(zip(passed, reader.memory_ids(self.graph.memories[passed]), strict=True))
        return [
            tuple(
                ElementRef(ElementKind.ENTITY, str(names[row]))
                if place % 2
                else ElementRef(ElementKind.MEMORY, ids[row])
                for place, row in enumerate(trail)
            )[::-1]
            for trail in trails
        ]

    def _trail(self, memory: int) -> list[int]:
        """The rows of memory, entity, memory and so on, backwards from a memory; empty if nothing leads to it."""
        trail = [memory]
        for _ in range(NEAR):
            entity = self._strongest(self.onward, self.graph.memory == trail[-1], self.graph.entity)
            if entity is None:
                break
            if self.started[entity] > 0:
                return [*trail, entity]
            others = (self.graph.entity == entity) & ~np.isin(self.graph.memory, trail[::2])
            if (before := self._strongest(self.back, others, self.graph.memory)) is None:
                break
            trail += [entity, before]
        return trail if len(trail) > 1 else []

    @staticmethod
    def _strongest(arriving: Floats, around: Mask, ends: Rows) -> int | None:
        """The end of the mention by which most mass arrives, if any; the first of equal ones."""
        (mentions,) = around.nonzero()
        if not len(mentions) or not arriving[mentions].any():
            return None
        return int(ends[mentions[compared(arriving[mentions]).argmax()]])


async def walk(
    named: NamedEntities, keys: Keys, scores: Floats, weight: float, scoring: RecallScoring, reader: Reader
) -> Walked | None:
    """A walk from named entities, with ``weight``, and from the best memories; None if there are no mentions.

    Entities share their mass by probability and rarity. Without any the walk starts at the very best memories alone.
    """
    total = await reader.document_count(ElementKind.MEMORY)
    best = best_first(scores, keys, scoring.restart_memories if len(named.keys) else scoring.unlinked_memories)
    best = best[scores[best] > 0]
    limit = min(MENTIONED, max(FEW, int(scoring.max_share * total)))
    graph = await gather(keys[best], scores[best], named, limit, reader)
    if not len(graph.memory):
        return None
    entities, memories = np.zeros(len(graph.entities)), np.zeros(len(graph.memories))
    (found,) = (graph.frequency[: len(named.keys)] > 0).nonzero()  # which come first
    entities[found] = named.likely[found] / graph.frequency[found]
    if not len(found):  # the named entities are everywhere, or nowhere
        best = best[: scoring.unlinked_memories]
    memories[: len(best)] = scores[best]
    start = (scoring.memory_mass if len(found) else 1.0) * _whole(memories), weight * _whole(entities)
    mass = start[0].sum() + start[1].sum()
    ways = Ways.of(graph, total, scoring.subject_weight)
    arrived, through = ranked(graph, ways, start[0] / mass, start[1] / mass, scoring.restart)
    onward, back = carried_on(graph, ways, arrived, through, scoring.restart)
    most = arrived.max(initial=0.0)
    ranks = arrived / most if most > 0 else arrived
    return Walked(graph=graph, ranks=ranks, onward=onward, back=back, started=entities, limit=limit)


def _whole(masses: Floats) -> Floats:
    """Masses that add up to 1, or none."""
    total = masses.sum()
    return masses / total if total > 0 else masses


@attrs.frozen(eq=False, kw_only=True)
class Ways:
    """The share of a node's mass that each mention passes on, in both directions."""

    to_entity: Floats
    to_memory: Floats

    @classmethod
    def of(cls, graph: MentionGraph, memories: int, subject_weight: float) -> Ways:
        """The shares for a scope with this many ``memories``."""
        frequency = graph.frequency
        rarity = np.log1p((memories - frequency + 0.5).clip(0.0) / (frequency + 0.5))
        weight = (1.0 + np.log(graph.times)) * rarity.take(graph.entity)
        about = np.where(graph.about, subject_weight * weight, weight)
        return cls(
            to_entity=_share(graph.memory, weight, len(graph.memories)),
            to_memory=_share(graph.entity, about, len(graph.entities)),
        )


def _share(near: Rows, weight: Floats, size: int) -> Floats:
    total = np.bincount(near, weight, size).take(near)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def ranked(
    graph: MentionGraph, ways: Ways, memories: Floats, entities: Floats, restart: float
) -> tuple[Floats, Floats]:
    """The rank of every memory and of every entity, from a start whose masses add up to 1.

    Every round steps from memories to entities and, from their new mass, back: half as many rounds as single steps
    take, and from below, so that no mass is ever too great.
    """
    here, there = np.zeros_like(memories), entities
    for _ in range(MAX_ROUNDS):
        arriving = np.bincount(graph.entity, ways.to_entity * here.take(graph.memory), len(entities))
        there = restart * entities + (1.0 - restart) * arriving
        arriving = np.bincount(graph.memory, ways.to_memory * there.take(graph.entity), len(memories))
        before, here = here, restart * memories + (1.0 - restart) * arriving
        if np.abs(here - before).sum() < TOLERANCE:
            break
    return here, there


def carried_on(
    graph: MentionGraph, ways: Ways, memories: Floats, entities: Floats, restart: float
) -> tuple[Floats, Floats]:
    """The mass that each mention passes to its memory, and to its entity, by the ranks of a walk; no step goes back.

    A memory's own mass returns to it from each of its entities: that is not counted.
    """
    here, there = memories.take(graph.memory), entities.take(graph.entity)
    onward = there - (1.0 - restart) * ways.to_entity * here
    back = here - (1.0 - restart) * ways.to_memory * there
    return (
        np.where(onward > ECHO * there, ways.to_memory * onward, 0.0),
        np.where(back > ECHO * here, ways.to_entity * back, 0.0),
    )


NAMED_SHARE: Final = 2 / 3
"""The least link probability of a word that is not written as a name. In doubt the walk does not start there, but at
what words and meaning found; values of ½ and ¾ differ by less than a point.
"""
LOOKED_AT: Final = 50
"""Number of best memories that are counted over if others are hidden."""
LIKE: Final = 1_000
"""A smaller scope weighs words as if it had this many memories: a few texts do not show which words are rare."""
UNHEARD: Final = 0.3
"""The deduction from meaning if no memory has any word of the question: a near meaning of unheard words is doubtful.
0.2 to 0.4 are as good, on sets left out in turn.
"""
_Terms = tuple[str, ...]


@attrs.frozen(eq=False, kw_only=True)
class Leads:
    """The terms of a question, and the names to walk from.

    * ``rarity``: the idf of each term in the scope. ``unheard``: the terms that no memory has.
    * ``anchors``: what leads. ``named``: of each entity, the terms that name it.
    """

    rarity: Mapping[str, float]
    unheard: AbstractSet[str] = frozenset()
    anchors: Sequence[Anchor] = ()
    named: Mapping[UUID, AbstractSet[str]] = attrs.field(factory=dict)

    def terms_of(self, entities: Iterable[UUID]) -> frozenset[str]:
        """The terms that name any of some entities in whole.

        A part of a name may be of another name: that it is known does not show that the question is about it.
        """
        whole = {each.entity_id for each in self.anchors if each.whole}
        return frozenset(chain.from_iterable(self.named[each] for each in whole.intersection(entities)))

    def covered(self, rare: Mapping[UUID, float]) -> float:
        """The share of the question, in [0, 1], that the walked entities name, each weighted by its rarity."""
        best: dict[str, float] = {}
        for entity_id, terms in self.named.items():
            for term in terms:
                best[term] = max(best.get(term, 0.0), rare.get(entity_id, 0.0))
        return sum(self.rarity[term] * best[term] for term in sorted(best)) / (sum(self.rarity.values()) or 1.0)

    def relevance(self, memories: Iterable[AbstractSet[str]], cosines: Floats) -> float:
        """1 − (1 − coverage) · (1 − meaning), in [0, 1]; from the terms of memories, and their cosines.

        Coverage is the share of the question's idf that one memory has; the best of any. Meaning is the greatest cosine
        − `UNHEARD` × the share of the question that no memory has, at least 0. Either is enough; for a question about
        something else both are low.
        """
        whole = sum(self.rarity.values()) or 1.0
        held = (sum(each for term, each in self.rarity.items() if term in memory) for memory in memories)
        coverage = min(1.0, max(held, default=0.0) / whole)
        unheard = sum(each for term, each in self.rarity.items() if term in self.unheard) / whole
        meaning = max(0.0, min(1.0, float(cosines.max(initial=0.0))) - UNHEARD * unheard)
        return 1.0 - (1.0 - coverage) * (1.0 - meaning)


async def leads(
    anchors: Sequence[Anchor], analysis: Analysis, mentions: tuple[Hits, Mentioned], best: Keys, reader: Reader
) -> tuple[Leads, NamedEntities]:
    """The anchors that are meant as names, of which the memories that mention them (`memories_of`) are known.

    Words of a time are not terms of the question: they say when, not what. Counts are over the scope; where something
    may be hidden, over the ``best`` visible memories by words and meaning, so that what is hidden changes nothing.

    A capitalised word inside of a sentence is a name. For others, the memories decide, by the link probability: the
    share of the memories with these words that mention the entity (Mihalcea and Csomai, *Wikify!*, 2007).
    """
    terms, query = reader.analyser.terms, analysis.question
    wanted = list(dict.fromkeys(terms(_without([(each.start, each.end) for each in analysis.periods], query))))
    forms = {each.entity_id: [tuple(terms(query[start:end])) for start, end in each.spans] for each in anchors}
    doubtful = [each for each in anchors if not _is_written_as_a_name(each, query)]
    groups = sorted({form for each in doubtful for form in forms[each.entity_id] if form})
    counted = await _frequencies([*((term,) for term in wanted), *groups], best, reader)
    stored = 0 if reader.hides else await reader.document_count(ElementKind.MEMORY)
    hits, memories = mentions
    holding = dict(zip(groups, counted[len(wanted) :], strict=True))
    keys = dict(zip(reader.entity_ids(hits.keys), hits.keys, strict=True))
    near = memories.near
    if reader.hides and len(best) >= LOOKED_AT:  # else all that have the words were looked at
        near = near[np.isin(memories.far, best)]
    likely = {
        each.entity_id: _link_probability(
            int(np.count_nonzero(near == keys[each.entity_id])),
            [holding[form] for form in forms[each.entity_id] if form],
            _unknown(each, query),
        )
        for each in doubtful
    }
    kept = {each.entity_id: each for each in anchors if likely.get(each.entity_id, 1.0) >= NAMED_SHARE}
    named = {id_: frozenset(chain(*forms[id_])).intersection(wanted) for id_ in kept}
    frequency = dict(zip(wanted, counted, strict=False))
    lead = Leads(
        rarity={term: idf(max(LIKE, stored), n) for term, n in frequency.items()},
        unheard={term for term, n in frequency.items() if not n}.difference(*named.values()),
        anchors=tuple(kept.values()),
        named=named,
    )
    ids = [id_ for id_ in keys if id_ in kept]
    walked = hits.keys[[id_ in kept for id_ in keys]]
    return lead, NamedEntities(
        keys=walked,
        likely=np.array([kept[id_].confidence for id_ in ids], np.float64),
        memories=memories.keep(among(memories.near, walked)),
    )


def _is_written_as_a_name(anchor: Anchor, query: str) -> bool:
    """Whether a question writes it with a capital, other than as its first word."""
    return any(
        not query[start:end].islower() and (start > 0 or len(query[start:end].split()) > 1)
        for start, end in anchor.spans
    )


async def _frequencies(groups: Sequence[_Terms], best: Keys, reader: Reader) -> Sequence[int]:
    """The number of memories that have all terms of each group."""
    if not reader.hides:
        return await reader.document_frequencies(ElementKind.MEMORY, groups)
    terms = reader.analyser.terms
    texts = [set(terms(searchable_text(memory))) for memory in await reader.memories(best)]
    return [sum(text.issuperset(group) for text in texts) for group in groups]


def _without(spans: Sequence[tuple[int, int]], text: str) -> str:
    """A text with blanks in place of some of its characters."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


async def memories_of(entities: Sequence[UUID], reader: Reader) -> tuple[Hits, Mentioned]:
    """Entities that hold and are visible, and the memories that mention them."""
    hits = await reader.locate(sorted(entities))
    return hits, await mentioning(hits.keys, MENTIONED, reader)


def _link_probability(mentions: int, holding: Sequence[int], unknown: float) -> float:
    """The greatest over the written forms of an entity, by the number of memories ``holding`` each.

    ``mentions`` are those of the entity; ``unknown`` is the probability of a form that no memory has.
    """
    return max((min(1.0, mentions / held) if held else unknown for held in holding), default=0.0)


def _unknown(anchor: Anchor, query: str) -> float:
    """1 unless the question capitalises other names, and not this one."""
    capitals = any(word[0].isupper() for word in query.split()[1:])
    return float(not capitals or any(not query[start:end].islower() for start, end in anchor.spans))
