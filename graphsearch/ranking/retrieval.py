"""Find what answers a question, around the entities that it names, near its meaning, and by facts; and score it.

Candidates that a walk does not reach are relations found by their facts, and those of requested types at hubs. What is
known in columns finds the best candidates; their lines are read whole, and decide the order, and whether to stay
silent. A subgraph by PageRank, or of a question that asks for nothing but names, is scored by rank or by hops.

Silence: if a question names something known, its requested relation decides. Among the relations around the named
entities, and those one hop further if the question names the kind in between ("the service that X uses"), the best must
be requested nearly as much as the best type that such entities have anywhere. The margin depends on the confidence in
the requested type: the less the question's own words indicate it, the wider the margin. If nothing known is named, the
words decide: the best line, or the best described entity, must cover a share of the question.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from itertools import pairwise
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch._support.concurrency import both
from graphsearch._support.timing import Stopwatch
from graphsearch.access.gatekeeper import DocumentCache
from graphsearch.access.reader import Reader, Request
from graphsearch.columns import NONE, Expansion, Floats, Hits, Keys, Mask, Rows, Subgraph
from graphsearch.columns.formulas import cosines
from graphsearch.columns.key_index import KeyIndex, among, distinct
from graphsearch.model import ElementKind, Scope, Vector
from graphsearch.protocols import LLM, Embedder, Traversal
from graphsearch.question.analysis import Anchor
from graphsearch.question.linking import anchors_of
from graphsearch.question.type_profile import DEFINES, ProfileCache
from graphsearch.question.understanding import PhraseVectors, Understanding
from graphsearch.ranking.entity_relevance import (
    MOST,
    Described,
    Lexicon,
    Lines,
    LineTerms,
    described,
    read_lines,
    together,
)
from graphsearch.ranking.triplet_relevance import (
    CERTAIN,
    TEMPERATURE,
    Edges,
    Evidence,
    Relevance,
    anchor_weights,
    relevance,
)
from graphsearch.ranking.triplet_score import (
    NOTHING,
    Connected,
    Findings,
    Reliability,
    ScoringOptions,
    connected,
    proximity_of_hops,
    score_triplets,
)


class Caches:
    """All that an engine keeps of questions, for one embedder.

    What was read of a scope is of one version of it, and of one gate: ``profiles`` of its relation types, for each of
    these in the ``lexicon`` the terms of entities that were read, and ``documents``, the words of what may be seen. The
    rest is of texts alone, by their hashes: vectors of ``phrases`` and of words, and the terms of lines.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self.embedder: Final = embedder
        self.profiles: Final = ProfileCache()
        self.documents: Final[defaultdict[Scope, DocumentCache]] = defaultdict(DocumentCache)
        self.phrases: Final = None if embedder is None else PhraseVectors(embedder)
        self.lexicon: Final = Lexicon(embedder)
        self.line_terms: Final = LineTerms()


@attrs.frozen(eq=False, kw_only=True)
class Parts:
    """The parts of an engine as one question uses them.

    ``open`` opens a snapshot for a request; within another one it is the same. ``stopwatch`` measures stages.
    """

    open: Callable[[Request], AbstractAsyncContextManager[Reader]]
    traversal: Traversal
    scoring: ScoringOptions
    caches: Caches
    embedder: Embedder | None = None
    llm: LLM | None = None
    stopwatch: Stopwatch = attrs.field(factory=Stopwatch)


FACTS: Final = 100
"""Relations returned by each search over facts: the best by sentence need not be the most reliable."""
HUB: Final = 25
"""Relations per entity and direction from which on a walk may have left out some of the requested type."""
OF_TYPE: Final = 100
"""Most relations of the requested types that are read of a hub."""


@attrs.frozen(eq=False, kw_only=True)
class Facts:
    """Relations found by their facts, distinct, in order of key: with their cosine and their BM25, 0 if not found.

    ``embedded``: whether any fact was found by its vector.
    """

    keys: Keys
    meaning: Floats
    words: Floats
    embedded: bool = False

    @classmethod
    def none(cls, like: Keys) -> Facts:
        """No relations, with keys of the dtype of ``like``."""
        return cls(keys=like[:0], meaning=np.empty(0), words=np.empty(0))

    @classmethod
    def of(cls, dense: Hits, worded: Hits) -> Facts:
        """The relations of both searches."""
        keys, rows = distinct(np.concatenate((dense.keys, worded.keys)))
        meaning, words = np.zeros(len(keys)), np.zeros(len(keys))
        meaning[rows[: len(dense)]] = 1.0 - dense.values
        words[rows[len(dense) :]] = worded.values
        return cls(keys=keys, meaning=meaning, words=words, embedded=len(dense) > 0)


async def by_facts(query: str, vector: Vector | None, limit: int, reader: Reader) -> Facts:
    """The relations whose facts are nearest to a question by words, and by meaning if there is a vector."""
    lexical = reader.lexical(ElementKind.RELATION, query, limit)
    if vector is None:
        worded = await lexical
        dense = worded.keep(np.empty(0, np.intp))
    else:
        dense, worded = await both(reader.nearest(ElementKind.RELATION, vector, limit), lexical)
    return Facts.of(dense, worded)


async def of_types(subgraph: Subgraph, anchors: Keys, types: Collection[str], reader: Reader) -> Keys:
    """The relations of some types of the anchors that have more relations than a walk reads."""
    if not len(anchors) or not types:
        return subgraph.relations[:0]
    rows = KeyIndex(subgraph.entities).of(anchors)
    rows = rows[rows != NONE]
    count = len(subgraph.entities)
    most = np.maximum(
        np.bincount(subgraph.source, minlength=count)[rows], np.bincount(subgraph.target, minlength=count)[rows]
    )
    hubs = subgraph.entities[rows[most >= HUB]]
    if not len(hubs):
        return subgraph.relations[:0]
    only = reader.viewing(attrs.evolve(reader.view, only_types=frozenset(types)))
    found: Keys = np.unique((await only.expand(np.sort(hubs), OF_TYPE)).rows.relations)
    return found


async def with_relations(subgraph: Subgraph, keys: Keys, reader: Reader) -> Subgraph:
    """A subgraph with those of some distinct relations that are visible and were not walked.

    Their ends become starting points: those that were not reached come first, as 0 hops away.
    """
    missing = keys[~among(keys, subgraph.relations)]
    if not len(missing):
        return subgraph
    steps = await reader.related(missing)
    rows, count = steps.rows, len(steps.rows)
    ends = np.concatenate((rows.near, rows.far))
    place = KeyIndex(subgraph.entities).of(ends)
    (unmet,) = (place == NONE).nonzero()
    fresh, which = distinct(ends[unmet])
    moved = len(fresh)
    place += moved
    place[unmet] = which
    nowhere = np.full(moved, NONE)

    def shifted(column: Rows) -> Rows:
        return np.where(column == NONE, NONE, column + moved)

    return Subgraph(
        entities=np.concatenate((fresh, subgraph.entities)),
        hops=np.concatenate((np.zeros(moved, np.int64), subgraph.hops)),
        importance=np.concatenate((await _importance(fresh, rows, reader), subgraph.importance)),
        previous=np.concatenate((nowhere, shifted(subgraph.previous))),
        via=np.concatenate((nowhere, subgraph.via)),
        source=np.concatenate((subgraph.source + moved, place[:count])),
        target=np.concatenate((subgraph.target + moved, place[count:])),
        **{name: np.concatenate((getattr(subgraph, name), column)) for name, column in steps.columns.items()},
    )


async def _importance(keys: Keys, steps: Expansion, reader: Reader) -> Floats:
    """The importance of entities, in order of key, at either end of visible steps."""
    located = steps.located
    if located is None:
        located = await reader.locate(reader.entity_ids(keys))
    found = np.empty(len(keys))
    for column, values in ((steps.ends.keys, steps.ends.importance), (located.keys, located.importance)):
        if len(column):
            at = np.searchsorted(column, keys).clip(max=len(column) - 1)
            there = column[at] == keys
            found[there] = values[at[there]]
    return found


ASKED_TYPES: Final = 3
"""Number of best relation types of which all relations of a hub are read."""
READ: Final = 64
"""Candidates that are read whole: the best by everything that is known without reading them."""
TRUSTED: Final = 9
"""Number of types from which on their affinities count in full: of two types, each is always one deviation off."""
TINY: Final = 1e-12
"""Least reliability, so that its logarithm is finite."""


@attrs.frozen(eq=False, kw_only=True)
class Clues:
    """What a question asks, and what was found by it.

    * ``named``: the entities that it names and that hold at its time, in order of key, with the ``chance`` that each is
      meant; ``anchors``: how it names them. ``described``: the entities that it describes, if it names none.
    * ``facts``: the relations whose facts are near to it.
    """

    meant: Understanding
    anchors: tuple[Anchor, ...]
    named: Hits
    chance: Floats
    facts: Facts
    described: Described | None = None

    @classmethod
    def of(cls, meant: Understanding, reader: Reader) -> Clues:
        """What the names of a question lead to."""
        named, chances = meant.named, meant.linked.probabilities
        return cls(
            meant=meant,
            anchors=anchors_of(meant.question, meant.linked.links),
            named=named,
            chance=np.array([chances.get(each, 0.0) for each in reader.entity_ids(named.keys)]),
            facts=Facts.none(named.keys),
        )

    @property
    def certain(self) -> Keys:
        """The entities that are named for certain."""
        found: Keys = self.named.keys[self.chance > CERTAIN]
        return found


async def score_relations(
    subgraph: Subgraph, clues: Clues, parts: Parts, reader: Reader, *, limit: int, depth: int
) -> tuple[Findings, Connected]:
    """Score relations for a question, of which ``limit`` will be shown, and find what several names lead to.

    Relations of facts, and of requested types at named hubs, are scored with those of a walk. Connections within
    ``depth`` hops answer if nothing else does, and names are joined ("what do Ann and Bea share?").
    """
    meant, options, walked = clues.meant, parts.scoring, subgraph.rank is None
    asks = bool(meant.terms) or meant.stated >= 0
    relevant, silent = None, False
    if walked and (asks or meant.vector is not None):
        types = {each.type for each in meant.relations(ASKED_TYPES)}
        typed = await of_types(subgraph, clues.certain, types, reader)
        more = np.union1d(clues.facts.keys, typed) if len(typed) else clues.facts.keys
        subgraph = await with_relations(subgraph, more, reader)
        relevant, silent = await _relevance(subgraph, clues, limit, parts.caches.line_terms, reader)
        found = score_triplets(subgraph, proximity=relevant.value, options=options)
    else:
        found = score_by_hops(subgraph, options, reader)
        if asks and not walked:
            by_rank, silent = await _relevance(subgraph, clues, limit, parts.caches.line_terms, reader)
            found = score_triplets(subgraph, proximity=found.proximity * by_rank.value, options=options)
    joint = connected(subgraph, clues.anchors, clues.named, depth=depth, options=options, reader=reader)
    answers = np.zeros(len(subgraph.relations), np.bool_) if silent else None
    if answers is not None and walked and not meant.worded and _joined(clues):
        answers[joint.relations()] = True
    return attrs.evolve(found, relevance=relevant, answers=answers), joint


def score_by_hops(subgraph: Subgraph, options: ScoringOptions, reader: Reader) -> Findings:
    """Score the relations of a subgraph by hops, or by PageRank if there is one."""
    reliability = Reliability.of(subgraph, options)
    proximity = proximity_of_hops(subgraph, reliability, options, reader)
    return score_triplets(subgraph, proximity=proximity, reliability=reliability, options=options)


# -- relevance ---------------------------------------------------------------------------------------------------------


async def _relevance(
    graph: Subgraph, clues: Clues, shown: int, line_terms: LineTerms, reader: Reader
) -> tuple[Relevance, bool]:
    """The relevance of every relation of a subgraph, exact for the best; and whether none of them answers.

    Exact are the `READ` best, and at least as many as ``shown``. For the others, the words of a line are those of its
    fact as found by the search over facts, and the kinds of its ends do not count.
    """
    meant = clues.meant
    rarity = meant.profile.rarities(dict.fromkeys(meant.terms))
    rough = _rough(graph, clues, sum(rarity.values()), reader)
    reliable = np.maximum(graph.confidence * graph.freshness * graph.prior, TINY)
    rows = _best(relevance(rough).evidence + TEMPERATURE * np.log(reliable), max(READ, shown))
    read, meaning, vector = read_lines(graph, rows, line_terms, reader), np.zeros(len(rows)), meant.vector
    if vector is None or not clues.facts.embedded:
        lines = await read
    else:
        lines, vectors = await both(read, reader.vectors(ElementKind.RELATION, graph.relations[rows]))
        if vectors.shape[1] == len(vector):  # else none of these has one
            meaning = cosines(vectors, vector)
    kinds = lines.kinds(meant.profile, len(graph.entities))
    known = _exact(rough, rows, lines, lines.terms.coverage(rarity), meaning, kinds, meant)
    silent = bool(meant.terms) and foreign(_standing(known, kinds, known.words[rows], lines, clues))
    return relevance(known), silent


def _rough(graph: Subgraph, clues: Clues, whole: float, reader: Reader) -> Evidence:
    """The evidence of all relations of a subgraph that is known without reading them."""
    meant, places = clues.meant, KeyIndex(graph.entities)
    anchor = np.zeros(len(graph.entities))
    named = places.of(clues.named.keys)
    anchor[named[named != NONE]] = clues.chance[named != NONE]
    edges = Edges(source=graph.source, target=graph.target, type=_types(graph, meant, reader))
    trust = min(1.0, max(len(meant.affinity) - 1, 0) / (TRUSTED - 1))
    affinity, wrong = np.append(meant.affinity * trust, 0.0)[edges.type], _wrong(edges, anchor, meant)
    if meant.stated >= 0:
        affinity = np.where(wrong & (edges.type == meant.stated), 0.0, affinity)
    fact = KeyIndex(clues.facts.keys).of(graph.relations)
    nowhere = np.zeros(len(anchor), np.bool_)
    known = Evidence(
        edges=edges,
        anchor=anchor,
        weights=anchor_weights(anchor, edges, affinity, nowhere),
        kind=np.zeros(len(anchor)),
        affinity=affinity,
        wrong=wrong,
        past=np.zeros(len(edges), np.bool_),
        words=np.minimum(np.append(clues.facts.words, 0.0)[fact] / (whole or np.inf), 1.0),
        meaning=np.append(clues.facts.meaning, 0.0)[fact],
        definition=meant.profile.row_of(DEFINES),
    )
    if clues.described is None or not clues.described.ids:
        return known
    likely, sure = places.of(clues.described.hits.keys), float(clues.described.sure[0])
    there = likely != NONE
    return attrs.evolve(known, described=likely[there], likely=clues.described.anchor[there], sure=sure)


def _types(graph: Subgraph, meant: Understanding, reader: Reader) -> Rows:
    """The row of each relation's type in the profile, -1 for a type that is not in it."""
    signatures, which = distinct(graph.signatures)
    rows = [meant.profile.row_of(each) for each in reader.signatures.type_names(signatures.tolist())]
    return np.array(rows, np.intp).take(which) if rows else which


def _wrong(edges: Edges, anchor: Floats, meant: Understanding) -> Mask:
    """Relations whose named end is not the one that the question's words require."""
    wrong = np.zeros(len(edges), np.bool_)
    for row, end in meant.direction.items():
        right, other = (edges.source, edges.target) if end > 0 else (edges.target, edges.source)
        wrong |= (edges.type == row) & (anchor[other] > CERTAIN) & (anchor[right] <= CERTAIN)
    return wrong


def _best(evidence: Floats, count: int) -> Rows:
    """The rows of the greatest evidence, of equal ones the first, in order."""
    if len(evidence) <= count:
        return np.arange(len(evidence))
    least = np.partition(evidence, -count)[-count]
    (above,), (equal,) = (evidence > least).nonzero(), (evidence == least).nonzero()
    return np.sort(np.concatenate((above, equal[: count - len(above)])))


def _exact(
    rough: Evidence, rows: Rows, lines: Lines, words: Floats, meaning: Floats, kinds: Rows, meant: Understanding
) -> Evidence:
    """The evidence with the lines of some relations, and the kinds of their ends."""
    every_words, every_meaning, past = rough.words.copy(), rough.meaning.copy(), rough.past.copy()
    every_words[rows], every_meaning[rows], past[rows] = words, meaning, lines.past
    between = np.isin(kinds, meant.between)
    weights = anchor_weights(rough.anchor, rough.edges, rough.affinity, between) if between.any() else rough.weights
    kind = np.append(meant.kind, 0.0)[kinds]
    return attrs.evolve(rough, words=every_words, meaning=every_meaning, past=past, kind=kind, weights=weights)


def _standing(known: Evidence, kinds: Rows, words: Floats, lines: Lines, clues: Clues) -> Standing:
    """What decides whether to stay silent. Without meaning, only possible names remain as evidence.

    Only lines count that cover most of a name which the question writes and no entity has, if there is such a name.
    """
    meant, profile = clues.meant, clues.meant.profile
    certain = {link.kind for link in meant.linked.links if link.probability > CERTAIN}
    strange = [lines.terms.shares(name) for name in meant.strange_names if name]
    about = np.max(strange, axis=0) >= MOST if strange else np.ones(len(words), np.bool_)
    return Standing(
        affinity=meant.affinity,
        meets=profile.meets,
        edges=known.edges,
        wrong=known.wrong,
        named=known.anchor > (CERTAIN if meant.vector is not None else 0.0),
        kinds=sorted({profile.kind_of(kind) for kind in certain} - {NONE}),
        between=meant.between,
        kind=kinds,
        worded=meant.worded,
        covered=float(words[about].max(initial=0.0)),
        described=0.0 if clues.described is None else clues.described.covered,
        ours=meant.ours and bool(np.isin(known.edges.type, sorted(meant.meant)).any()),
    )


# -- names -------------------------------------------------------------------------------------------------------------


def names_alone(meant: Understanding) -> bool:
    """Whether a question consists of names and numbers only: then it asks for what it names."""
    return meant.stated < 0 and all(term.isdigit() for term in meant.terms)


_JOINING: Final = frozenset({"and", "or", "to", "with"})


def _joined(clues: Clues) -> bool:
    """Whether a word joins two names of a question."""
    spans = sorted(span for anchor in clues.anchors for span in anchor.spans)
    between = (clues.meant.question[one[1] : other[0]] for one, other in pairwise(spans))
    return any(not _JOINING.isdisjoint(text.casefold().split()) for text in between)


MOST_DESCRIBED: Final = 100
"""Entities returned by each search for what a question describes."""


@attrs.frozen(eq=False, kw_only=True)
class Answer:
    """What was found for a question.

    * ``findings``: scored relations. ``anchors``: the entities that the question names, if the search started there.
    * ``connected``: what several names lead to.
    * ``subjects``: the ids of the entities that the question is itself about, best first: those that it describes, or
      those that it names without asking for anything else.
    * ``left_out``: how many relations of the seeds of the subgraph the view left out, by reason; None if they were not
      counted yet.
    * ``nothing``: the reason if no relation was found. It must not distinguish hidden from absent elements.
    """

    findings: Findings
    anchors: tuple[Anchor, ...] = ()
    subjects: tuple[UUID, ...] = ()
    connected: Connected = NOTHING
    left_out: Mapping[str, int] | None = None
    nothing: str = "nothing was found"


async def find_around(
    meaning: Understanding | None, parts: Parts, reader: Reader, *, limit: int, seeds: int, depth: int | None
) -> Answer:
    """Find relations around the entities that a question names; with its vector also around what it is near to.

    That are the ``seeds`` nearest entities, those that it describes if it names none for certain, and the relations
    whose facts match it. A traversal that ranks entities, such as PageRank, has no candidates but its own. Without a
    ``depth`` nothing is walked: relations are found by their facts alone, near in meaning or in words.
    """
    if meaning is None:
        return await nothing_asked(parts, reader)
    clues = Clues.of(meaning, reader)
    walking = _walked(clues, parts, reader, seeds=seeds, depth=depth)
    if meaning.vector is None and depth is not None:
        subgraph, clues = await walking
    else:
        finding = by_facts(meaning.question, meaning.vector, max(limit, FACTS), reader)
        (subgraph, clues), facts = await both(walking, finding)
        clues = attrs.evolve(clues, facts=facts)
    with parts.stopwatch.stage("scoring"):
        (found, joint), left_out = await both(
            score_relations(subgraph, clues, parts, reader, limit=limit, depth=depth or 0),
            reader.left_out(subgraph.seeds()),
        )
    visible = meaning.vector is not None or clues.anchors
    return Answer(
        findings=found,
        anchors=clues.anchors,
        subjects=subjects(clues),
        connected=joint,
        left_out=left_out,
        nothing=why_nothing(meaning) if visible else "the question names nothing visible",
    )


async def _walked(
    clues: Clues, parts: Parts, reader: Reader, *, seeds: int, depth: int | None
) -> tuple[Subgraph, Clues]:
    """The subgraph around the entities that a question names, describes or is near to; an empty one without a depth."""
    if depth is None:
        return Subgraph.none(clues.named.keys), clues
    meaning, start = clues.meant, clues.named
    with parts.stopwatch.stage("seeds"):
        if meaning.vector is not None:
            near = await reader.nearest(ElementKind.ENTITY, meaning.vector, seeds)
            if not len(clues.certain):
                found = await described(meaning, MOST_DESCRIBED, parts.caches.lexicon, reader)
                found = found.keep(np.arange(min(seeds, len(found.ids))))
                clues, start = attrs.evolve(clues, described=found), together(start, near, found.hits)
            else:
                start = together(start, near)
    with parts.stopwatch.stage("traversal"):
        return await parts.traversal.traverse(start, depth=depth, reader=reader), clues


async def find_nearby(seeds: Hits, depth: int, parts: Parts, reader: Reader) -> Findings:
    """The subgraph within ``depth`` hops of some entities, scored by hops."""
    with parts.stopwatch.stage("traversal"):
        subgraph = await parts.traversal.traverse(seeds, depth=depth, reader=reader)
    with parts.stopwatch.stage("scoring"):
        return score_by_hops(subgraph, parts.scoring, reader)


async def nothing_asked(parts: Parts, reader: Reader) -> Answer:
    """The answer to a blank question: no relation."""
    subgraph = Subgraph.none((await reader.locate([])).keys)
    return Answer(findings=score_triplets(subgraph, proximity=np.empty(0), options=parts.scoring))


def subjects(clues: Clues) -> tuple[UUID, ...]:
    """The entities that a question is itself about, best first: described ones, or named ones without further words."""
    if clues.described is not None and clues.described.ids:
        return tuple(clues.described.ids)
    if not names_alone(clues.meant):
        return ()
    return tuple(each.entity_id for each in clues.anchors if each.confidence > CERTAIN)


def why_nothing(meaning: Understanding) -> str:
    """The reason why no relation answers, which does not distinguish hidden from absent elements."""
    if meaning.linked.links:
        names = ", ".join(dict.fromkeys(meaning.question[each.start : each.end] for each in meaning.linked.links))
        return f"nothing visible of {names} answers what is asked"
    if meaning.unknown:
        return f"nothing visible is known of {', '.join(each.text for each in meaning.unknown)}"
    return "nothing visible has to do with the question"


# -- silence -----------------------------------------------------------------------------------------------------------

NEAR: Final = 1.0
"""Standard deviations that the best relation around a name may be below the best type of such entities, if all of
the question's words belong to that type.
"""
WORDLESS: Final = 1.5
"""Additional deviations if none of them does, and only meaning indicates it. Values from 1 to 2 lose 1 to 2 of 100
questions of four graphs, and silence as many foreign ones.
"""
FLAT: Final = 0.55
"""Share of sqrt(2 ln n), about the maximum of n random values, by which the best of n types must stand out if no word
of the question belongs to it.
"""
FAR: Final = 5.0
"""The margin below the best of all types: a type that only other kinds of entities have may still be meant."""
SAID: Final = 2.0
"""Deviations less of it if all of the question's words belong to that type: who "started" X is not who leads it."""
MANY: Final = 9
"""Number of types from which on that margin is full: the best of n is at most sqrt(n - 1) above the average."""
PAIR: Final = 2
"""Of two types each is always one deviation off, which says nothing."""
WRONG: Final = 3.0
"""Additional standard deviations for a relation in the wrong direction."""
COVERED: Final = 0.3
"""Share of a question's idf that the best line must cover if the question names nothing known."""
DESCRIBED: Final = 0.45
"""Least probability, by the question's own words, that an entity is described. Of 70 questions about code two
are silenced, and of foreign questions 60 to 99 %, fewer the more words they share with the graph.
"""


@attrs.frozen(eq=False, kw_only=True)
class Standing:
    """The inputs of the decision.

    * ``affinity`` of each relation type, and ``meets``: one row per kind of entities, with the types they have.
    * ``edges`` with ``wrong`` as in `Evidence`; ``named``: the rows of certainly named entities, and their ``kinds``.
    * ``between``: kinds that the question mentions besides the requested one; ``kind`` of each entity by row, -1 if
      unknown.
    * ``worded``: the share of the question that belongs to the type with the greatest affinity, by words alone.
    * ``covered``: the greatest share of the question's idf that a line covers; ``described``: as `Alike.covered`.
    * ``ours``: whether a relation is of a type that is asked of who asks: "which database do we use?".
    """

    affinity: Floats
    meets: Mask
    edges: Edges
    wrong: Mask
    named: Mask
    kinds: Sequence[int]
    between: Sequence[int]
    kind: Rows
    worded: float
    covered: float
    described: float = 0.0
    ours: bool = False


def foreign(standing: Standing) -> bool:
    """Whether a question asks for nothing that the graph contains."""
    if standing.ours:
        return False
    if not standing.named.any() or not len(standing.affinity):
        return standing.covered < COVERED and standing.described < DESCRIBED
    if _nothing_stands_out(standing):
        return True
    gap, overall = _gaps(standing)
    types = len(standing.affinity)
    share = min(1.0, math.sqrt((types - 1) / (MANY - 1))) if types > PAIR else 1.0
    far = (FAR - SAID * standing.worded) * share
    return gap < -NEAR - WORDLESS * (1.0 - standing.worded) or overall < -far


def _nothing_stands_out(standing: Standing) -> bool:
    """Whether only meaning indicates a type, and no type more than others; then silent, unless there is no embedder."""
    if standing.worded > 0.0 or not standing.affinity.any():
        return False
    return float(standing.affinity.max()) < FLAT * math.sqrt(2.0 * math.log(len(standing.affinity)))


def _gaps(standing: Standing) -> tuple[float, float]:
    """How far the best available relation is below the best type of the named kinds, and below the best of all."""
    affinity, edges, named = np.append(standing.affinity, standing.affinity.min()), standing.edges, standing.named
    best, greatest = _best_of(standing, standing.kinds), float(standing.affinity.max())
    (adjacent,) = (named[edges.source] | named[edges.target]).nonzero()
    own, wrong = affinity[edges.type[adjacent]], np.where(standing.wrong[adjacent], WRONG, 0.0)
    gap = (np.minimum(own - best, 0.0) - wrong).max(initial=-np.inf)
    overall = (own - wrong - greatest).max(initial=-np.inf)
    if len(standing.between):
        onward = affinity[edges.type[_onward(standing)]].max(initial=-np.inf)
        gap = max(gap, onward - max(best, _best_of(standing, standing.between)))
        overall = max(overall, onward - greatest)
    return float(gap), float(overall)


def _best_of(standing: Standing, kinds: Sequence[int]) -> float:
    """The greatest affinity among the types that entities of some kinds have; of all types if these have none."""
    types = standing.meets[list(kinds)].any(axis=0) if len(kinds) else np.zeros(len(standing.affinity), np.bool_)
    return float(standing.affinity[types].max() if types.any() else standing.affinity.max())


def _onward(standing: Standing) -> Rows:
    """The relations one hop further, of entities of a kind that the question names in between."""
    edges, named = standing.edges, standing.named
    reached = np.zeros(len(named), np.bool_)
    for one, other in ((edges.source, edges.target), (edges.target, edges.source)):
        reached[other[named[one] & ~named[other]]] = True
    reached &= np.isin(standing.kind, list(standing.between))
    onward = (reached[edges.source] & ~named[edges.target]) | (reached[edges.target] & ~named[edges.source])
    return np.flatnonzero(onward)
