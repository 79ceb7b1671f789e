"""The relations of a subgraph scored for a question: by relevance, by rank, or by hops alone."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Hits, Keys, Subgraph
from graphsearch.question.interpreting import Understanding
from graphsearch.question.linking import anchors_of
from graphsearch.ranking.triplets.candidates import Facts, of_types, with_relations
from graphsearch.ranking.triplets.connections import Connected, connected
from graphsearch.ranking.triplets.entity_relevance import Alike, nobody
from graphsearch.ranking.triplets.findings import Findings, findings, proximity_of_hops
from graphsearch.ranking.triplets.ranked import ranked
from graphsearch.ranking.triplets.subgraph_scores import Reliability
from graphsearch.ranking.triplets.triplet_relevance import CERTAIN
from graphsearch.ranking.triplets.triplet_score import ScoringOptions
from graphsearch.ranking.triplets.word_coverage import LineTerms

ASKED_TYPES: Final = 3
"""Number of best relation types of which all relations of a hub are read."""


@attrs.frozen(eq=False, kw_only=True)
class Clues:
    """What a question asks, and what was found by it: entities that it names, those that it describes, and facts."""

    meant: Understanding
    named: Hits
    described: Alike = attrs.field(default=attrs.Factory(lambda self: nobody(self.named.keys), takes_self=True))
    facts: Facts = attrs.field(default=attrs.Factory(lambda self: Facts.none(self.named.keys), takes_self=True))


async def score_by_relevance(
    subgraph: Subgraph,
    clues: Clues,
    reader: Reader,
    *,
    depth: int,
    limit: int,
    options: ScoringOptions,
    line_terms: LineTerms,
) -> tuple[Findings, Connected]:
    """Score the relations of a subgraph, of facts, and of requested types at named hubs; and find connections.

    Connections are what several names lead to within ``depth`` hops: they answer if nothing else does, and names are
    joined ("what do Ann and Bea share?"). ``limit`` relations will be shown; ``line_terms`` caches the terms of lines.
    """
    meant, facts = clues.meant, clues.facts
    types = frozenset(each.type for each in meant.relations(ASKED_TYPES))
    near = await of_types(subgraph, certain(clues.named, meant, reader), types, reader)
    every = await with_relations(near, facts.keys, reader)
    relevant = await ranked(every, facts, meant, clues.described, limit, line_terms, reader)
    found = findings(every, Reliability.of(every, options), relevant.relevance.value, options)
    anchors = anchors_of(meant.question, meant.linked.links)
    joint = connected(every, anchors, clues.named, depth=depth, options=options, reader=reader)
    answers = np.zeros(len(every.relations), np.bool_) if relevant.foreign else None
    if answers is not None and not relevant.worded and _joined(meant):
        answers[joint.relations()] = True
    return attrs.evolve(found, relevance=relevant.relevance, answers=answers), joint


async def score_by_rank(
    subgraph: Subgraph, clues: Clues, reader: Reader, *, limit: int, options: ScoringOptions, line_terms: LineTerms
) -> Findings:
    """Score the relations of a subgraph by hops or PageRank alone, if nothing is asked; else times their relevance."""
    meant, found = clues.meant, score_by_hops(subgraph, options, reader)
    if subgraph.rank is None or not (meant.terms or meant.stated >= 0):
        return found
    relevant = await ranked(subgraph, clues.facts, meant, clues.described, limit, line_terms, reader)
    proximity = found.proximity * relevant.relevance.value
    answers = np.zeros(len(subgraph.relations), np.bool_) if relevant.foreign else None
    return attrs.evolve(findings(subgraph, found.reliability, proximity, options), answers=answers)


def score_by_hops(subgraph: Subgraph, options: ScoringOptions, reader: Reader) -> Findings:
    """Score the relations of a subgraph by hops, or by PageRank if there is one."""
    reliability = Reliability.of(subgraph, options)
    return findings(subgraph, reliability, proximity_of_hops(subgraph, reliability, options, reader), options)


async def located(meant: Understanding, reader: Reader) -> Hits:
    """The entities that a question names and that hold at its time, in order of key.

    All entities that it may name are located, so that those that the gate hides are counted as denied.
    """
    hits, named = await reader.locate(meant.candidates), meant.linked.probabilities
    return hits.keep(np.array([each in named for each in reader.entity_ids(hits.keys)], np.bool_))


def certain(hits: Hits, meant: Understanding, reader: Reader) -> Keys:
    """The entities that the question names for certain."""
    named = meant.linked.probabilities
    sure = [named.get(each, 0.0) > CERTAIN for each in reader.entity_ids(hits.keys)]
    keys: Keys = hits.keys[np.array(sure, np.bool_)]
    return keys


def names_alone(meant: Understanding) -> bool:
    """Whether a question consists of names and numbers only: then it asks for what it names."""
    return meant.stated < 0 and all(term.isdigit() for term in meant.terms)


_JOINING: Final = frozenset({"and", "or", "to", "with"})


def _joined(meant: Understanding) -> bool:
    """Whether a word joins two names of a question."""
    spans = sorted(span for anchor in anchors_of(meant.question, meant.linked.links) for span in anchor.spans)
    between = (meant.question[one[1] : other[0]] for one, other in pairwise(spans))
    return any(not _JOINING.isdisjoint(text.casefold().split()) for text in between)
