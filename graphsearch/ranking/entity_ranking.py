"""Rank entities: propose and examine candidates, rank them by factors, and select the best.

Proposed are the entities that a question may mean, scored by relations, words, meaning and importance. The relations
are those that answer the question: it asks for their other ends, as in who manages whom it names.

relevance = Σ value × weight        over the factors of the ranking; the original score has the remaining weight
score     = (1 − φ) · relevance / best + φ · feedback

Three factors are computed here: the match of the type of an entity with the type of answer that the question wants, the
share of the question's terms that the texts of the entity contain, by field, and the fit of its periods to the years
that the question names: 1.0, 0.8, 0.5 or 0.3.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader, Request
from graphsearch.columns import Floats, Keys, Rows, Steps
from graphsearch.columns.key_index import KeyIndex
from graphsearch.display.printing import Displayed, hidden, print_listing
from graphsearch.model import ElementKind, Entity, Scope, ScorePart
from graphsearch.model import validation as check
from graphsearch.question.analysis import Analysis, QuestionType, analyse
from graphsearch.question.linking import anchors_of
from graphsearch.question.understanding import Understanding, at_time_asked
from graphsearch.ranking.entity_relevance import IMPORTANCE, NAMED, described
from graphsearch.ranking.retrieval import Clues, Parts, find_around, names_alone
from graphsearch.ranking.scores import RRF_K, Part, picked, with_feedback
from graphsearch.ranking.triplet_relevance import CERTAIN
from graphsearch.ranking.triplet_score import NEARER, Findings
from graphsearch.text.analyser import terms
from graphsearch.text.rendering import entity_name, safe_text

_SLACK: Final = 1e-9  # 0.1 + 0.2 + 0.7 exceeds 1 in floating point


class Ranking(StrEnum):
    """The rankings, by the factors they use in addition to the original score."""

    RRF = "rrf"
    """None."""
    CONNECTION = "connection"
    """The number of connections of an entity."""
    TEMPORAL = "temporal"
    """Connections, and whether it fits the requested years."""
    MULTI_FACTOR = "multi_factor"
    """These, and the share of the question in its texts."""
    QUESTION_AWARE = "question_aware"
    """These, and whether its type answers the type of question."""


def _sum_fault(given: RankingWeights) -> str | None:
    total = sum(attrs.astuple(given))
    return f"the weights must add up to at most 1, not {total:g}" if total > 1.0 + _SLACK else None


@attrs.frozen(kw_only=True)
@check.checked("ranking weights", _sum_fault)
class RankingWeights:
    """The weights of the factors, in [0, 1], together at most 1; the original score has the rest."""

    connection: float = 0.0
    temporal: float = 0.0
    query_match: float = 0.0
    entity_type: float = 0.0

    @property
    def original(self) -> float:
        """The weight left by the others."""
        return max(0.0, 1.0 - self.connection - self.temporal - self.query_match - self.entity_type)


WEIGHTS: Final[Mapping[Ranking, RankingWeights]] = {
    Ranking.RRF: RankingWeights(),
    Ranking.CONNECTION: RankingWeights(connection=0.3),
    Ranking.TEMPORAL: RankingWeights(connection=0.2, temporal=0.3),
    Ranking.MULTI_FACTOR: RankingWeights(connection=0.15, temporal=0.25, query_match=0.25),
    Ranking.QUESTION_AWARE: RankingWeights(connection=0.15, temporal=0.20, query_match=0.20, entity_type=0.15),
}


def weights_for(ranking: Ranking, *, named: bool, dated: bool) -> RankingWeights:
    """The weights of a ranking for a question, by whether that names an entity, and a time.

    QUESTION_AWARE uses connections and the words of fields only if an entity is named: how well known an entity is does
    not indicate that it is the described one, and the original score contains its words already. Without a time all
    entities fit equally well, which orders nothing; the original score has that weight, so that connections and words
    do not gain on it.
    """
    weights = WEIGHTS[ranking]
    if ranking is not Ranking.QUESTION_AWARE:
        return weights
    if not named:
        weights = attrs.evolve(weights, connection=0.0, query_match=0.0)
    return weights if dated else attrs.evolve(weights, temporal=0.0)


@attrs.frozen(kw_only=True)
@check.checked("ranking", ranking=check.among(*map(str, Ranking)), candidates=check.within(1))
class RankRequest(Request):
    """One ranking of entities, checked.

    * ``ranking``: a `Ranking`, and ``weights`` in place of those that it has.
    * ``candidates``: of how many entities, those that the searches put first, the other factors are looked at.

    Results are entities; their ``diversity`` is that of names and descriptions.
    """

    limit: int = 5
    ranking: str = Ranking.QUESTION_AWARE
    weights: RankingWeights | None = None
    candidates: int = 20


class Years(NamedTuple):
    """Years from the first to the last, both included; an open end is None."""

    first: int | None
    last: int | None

    def meet(self, other: Years) -> bool:
        """Whether the two have a year in common."""
        starts_late = self.first is not None and other.last is not None and self.first > other.last
        ends_early = self.last is not None and other.first is not None and self.last < other.first
        return not (starts_late or ends_early)


@attrs.frozen(kw_only=True)
class FoundEntity:
    """An entity with its score in [0, 1], taken apart.

    * ``original``: what the searches made of it, any number ≥ 0; the sum of its ``channels``: rank from 1, score,
      weight and contribution.
    * ``connections``: how many relations it has that may be seen (see `graphsearch.ranking.entity_ranking`), with
      at most ten ``connected_names``, by the most reliable relations first, and all ``relation_types``, the most
      frequent first. ``dates``: the periods that are known of it, in years.
    * ``factors``: value × weight = contribution, adding up to the ``relevance``, in [0, 1].
    * ``relevance_part`` and ``feedback_part``: (1 − φ) · relevance / best and φ · feedback, which are the score.
    * ``scopes``: those that know it, in the answer of a `FederatedEngine`; else empty.
    """

    entity: Entity
    original: float
    channels: Mapping[str, Part] = attrs.field(factory=dict)
    connections: int = 0
    connected_names: tuple[str, ...] = ()
    relation_types: tuple[str, ...] = ()
    dates: tuple[Years, ...] = ()
    factors: tuple[ScorePart, ...] = ()
    relevance: float = 0.0
    relevance_part: float = 0.0
    feedback_part: float = 0.0
    scopes: tuple[Scope, ...] = ()

    @property
    def score(self) -> float:
        """(1 − φ) · relevance / best + φ · feedback."""
        return self.relevance_part + self.feedback_part

    @property
    def parts(self) -> tuple[ScorePart, ...]:
        """The parts that add up to the score: the factors, scaled, and feedback."""
        scale = self.relevance_part / self.relevance if self.relevance else 0.0
        own = (ScorePart(name=each.name, value=each.value, weight=each.weight * scale) for each in self.factors)
        return (*own, ScorePart.adding("feedback", self.entity.feedback_weight, self.feedback_part))


@attrs.frozen(kw_only=True)
class RankResult(Displayed):
    """The entities that a question asks for, best first; equal scores always in the same order.

    * ``found``: how many entities the searches found, of which the first ``candidates`` were looked at.
    * ``denied``: distinct elements that the gate hid, by kind. For the caller, never for a prompt.
    * ``reason``: why there is no entity; empty where there is one.
    * ``timings``: milliseconds by stage. ``scopes``: those that were searched, of a `FederatedEngine`; else empty.
    """

    query: str
    ranking: str
    entities: tuple[FoundEntity, ...]
    analysis: Analysis
    as_of: datetime
    known_at: datetime
    found: int
    denied: Mapping[ElementKind, int]
    reason: str
    timings: Mapping[str, float] = attrs.field(eq=False)
    scopes: tuple[Scope, ...] = ()

    def __str__(self) -> str:
        rows = [
            (each.score, (entity_name(each.entity), each.entity.type, ", ".join(map(safe_text, each.connected_names))))
            for each in self.entities
        ]
        return print_listing(
            self.query,
            f"{self.ranking}, as of {self.as_of:%Y-%m-%d}",
            f"{len(self.entities)} of the {self.found} entities found",
            hidden(self.denied),
            head=("entity", "type", "connected with"),
            rows=rows,
            reason=self.reason,
        )


SEARCHED: Final = 100
"""Least number of hits of each search."""
SEEDS: Final = 10
"""The nearest entities from which relations that answer are searched for."""
HOPS: Final = 2
HOPS_OF_NAMES: Final = 3
"""From names alone, without an embedding."""
SHOWN: Final = 10
"""Relations of which the scores are exact."""
SEARCHES: Final = ("relations", "lexical", "semantic")
ANSWER: Final = 3.0
"""The weight of the entity at the other end of the best answering relation: above that of any description."""


async def propose(
    request: RankRequest, meaning: Understanding | None, parts: Parts, reader: Reader
) -> list[FoundEntity]:
    """Visible entities by relevance, or by reciprocal ranks alone, best first, ties by id; none for a blank question.

    Each search returns at least as many as the request has candidates.
    """
    if meaning is None:
        return []
    limit = max(SEARCHED, request.candidates)
    answers = await answering(meaning, limit, parts, reader)
    found = await described(meaning, limit, parts.caches.lexicon, reader, list(answers))
    answer = np.array([answers.get(id_, 0.0) for id_ in found.ids])
    channels = {
        "relations": _parts(answer, ANSWER),
        "lexical": _parts(found.share, 1.0),
        "semantic": _parts(found.cosine, found.weight),
        "importance": _parts(found.hits.importance, IMPORTANCE),
        "named": _parts(found.named.astype(float), NAMED),
    }
    entities, originals = await reader.entities(found.hits.keys), (found.relevance + ANSWER * answer).tolist()
    proposed = [
        FoundEntity(
            entity=entity,
            original=original,
            channels={name: parts_of[row] for name, parts_of in channels.items() if row in parts_of},
        )
        for row, (entity, original) in enumerate(zip(entities, originals, strict=True))
    ]
    if request.ranking == Ranking.RRF and request.weights is None:
        proposed = [ranked for each in proposed if (ranked := _by_reciprocal_rank(each)).channels]
    return sorted(proposed, key=lambda each: (-each.original, each.entity.id))


def _by_reciprocal_rank(found: FoundEntity) -> FoundEntity:
    """The same by the sum of 1 / (60 + rank) over the channels that searched it; importance is none."""
    channels = {
        name: attrs.evolve(part, weight=1.0, contribution=1.0 / (RRF_K + part.rank))
        for name, part in found.channels.items()
        if name in SEARCHES
    }
    return attrs.evolve(found, original=math.fsum(each.contribution for each in channels.values()), channels=channels)


def _parts(scores: Floats, weight: float) -> Mapping[int, Part]:
    """The contribution of one channel by row, with its rank there, ties in the overall order; none for 0."""
    order = np.argsort(-scores, kind="stable").tolist()
    return {
        row: Part(rank=rank, score=score, weight=weight, contribution=weight * score)
        for rank, (row, score) in enumerate(zip(order, scores[order].tolist(), strict=True), 1)
        if weight * score > 0
    }


async def answering(meaning: Understanding, limit: int, parts: Parts, reader: Reader) -> Mapping[UUID, float]:
    """The weight of the best ``limit`` answering entities relative to the best, in (0, 1].

    Empty if the question names nothing for certain, or consists of names only. The reader is at the time that it asks
    about.
    """
    if names_alone(meaning):
        return {}
    named = Clues.of(meaning, reader).certain
    if not len(named):
        return {}
    depth = HOPS_OF_NAMES if meaning.vector is None else HOPS
    found = (await find_around(meaning, parts, reader, limit=SHOWN, seeds=SEEDS, depth=depth)).findings
    worth = _worth(found, named)
    best = np.argsort(-worth, kind="stable")[:limit]
    best = best[worth[best] > 0]
    ids = reader.entity_ids(found.subgraph.entities[best])
    return dict(zip(ids, (worth[best] / worth.max(initial=0.0)).tolist(), strict=True))


def _worth(found: Findings, named: Keys) -> Floats:
    """The score of each entity of a subgraph as an answer: the greatest of the relations that end there.

    Of a relation at a name only the other end answers.
    """
    graph, rows = found.subgraph, found.rows()
    names = np.zeros(len(graph.entities), np.bool_)
    places = KeyIndex(graph.entities).of(named)
    names[places[places >= 0]] = True
    value = (found.scores.strength * found.proximity)[rows]
    worth = np.zeros(len(graph.entities))
    one, other = graph.source[rows], graph.target[rows]
    for end, far in ((one, other), (other, one)):
        nearer = ~names[end] & ~names[far] & (graph.hops[end] < graph.hops[far])
        counted = np.where(names[end] & ~names[far], 0.0, np.where(nearer, NEARER, 1.0))
        np.maximum.at(worth, end, counted * value)
    return worth


COUNTED: Final = 100
"""Most relations of an entity that are counted in each direction: a hub costs no more than other entities."""
SHOWN_NAMES: Final = 10
MENTIONED: Final = 500
"""Most mentions of an entity of which the years are read; one with more is of every year."""
RELATIONS: Final = 25
"""Most relations of an entity and direction of which the evidence is read."""


async def connections(entity_ids: Sequence[UUID], reader: Reader) -> Mapping[UUID, Mapping[str, Any]]:
    """The connections of visible entities, by id, as a `FoundEntity` has them; none of those that do not hold.

    Relations count in both directions, each once, if they pass the view and are visible, with their visible ends.
    """
    near = KeyIndex((await reader.locate(entity_ids)).keys)
    steps = await reader.expand(near.keys, COUNTED)
    rows = steps.rows.keep(kept := _each_once(steps))
    far, others = np.unique(rows.far, return_inverse=True)
    contents = [reader.signatures.contents[row] for row in steps.signatures[kept].tolist()]
    types: list[Counter[str]] = [Counter() for _ in range(len(near))]
    connected: list[dict[int, None]] = [{} for _ in range(len(near))]
    columns = (near.of(rows.near).tolist(), others.tolist(), (rows.near == rows.far).tolist(), contents)
    for owner, other, itself, content in zip(*columns, strict=True):
        types[owner][content.type if content else ""] += 1
        if not itself and len(connected[owner]) < SHOWN_NAMES:
            connected[owner][other] = None
    wanted = sorted({row for rows in connected for row in rows})
    names = {row: entity.name for row, entity in zip(wanted, await reader.entities(far[wanted]), strict=True)}
    return {
        id_: {
            "connections": counted.total(),
            "connected_names": tuple(names[other] for other in ends),
            "relation_types": tuple(kind for kind, _ in sorted(counted.items(), key=lambda each: (-each[1], each[0]))),
        }
        for id_, counted, ends in zip(reader.entity_ids(near.keys), types, connected, strict=True)
    }


def _each_once(steps: Steps) -> Rows:
    """Rows by entity, the most reliable first, ties by relation; loops only once."""
    rows = steps.rows
    order = np.lexsort((rows.relations, -steps.reliability, rows.near))
    near, relations = rows.near[order], rows.relations[order]
    again = np.zeros(len(order), np.bool_)
    again[1:] = (near[1:] == near[:-1]) & (relations[1:] == relations[:-1])
    kept: Rows = order[~again]
    return kept


async def episodes(entity_ids: Sequence[UUID], reader: Reader) -> Mapping[UUID, tuple[Years, ...]]:
    """The years of the visible memories that mention entities or prove their relations, by entity, in order."""
    found = defaultdict[UUID, set[int]](set)
    keys = (await reader.locate(sorted(entity_ids))).keys
    mentioned = await reader.mentioned(ElementKind.ENTITY, keys, MENTIONED)
    memories, places = np.unique(mentioned.far, return_inverse=True)
    occurred = [memory.occurred_at for memory in await reader.memories(memories)]
    for id_, place in zip(reader.entity_ids(mentioned.near), places.tolist(), strict=True):
        if time := occurred[place]:
            found[id_].add(time.year)
    rows = (await reader.expand(keys, RELATIONS)).rows
    relations = await reader.relations(rows.relations)
    cited = sorted({memory for relation in relations for memory in relation.evidence})
    times = {memory.id: memory.occurred_at for memory in await reader.get_memories(cited)}
    for id_, relation in zip(reader.entity_ids(rows.near), relations, strict=True):
        found[id_].update(time.year for memory in relation.evidence if (time := times.get(memory)))
    return {id_: tuple(Years(year, year) for year in sorted(years)) for id_, years in found.items()}


async def rank_entities(
    request: RankRequest, meaning: Understanding | None, parts: Parts, reader: Reader
) -> RankResult:
    """The entities that a question asks for, at the time that it names; its meaning is None if it is blank."""
    stopwatch, now = parts.stopwatch, reader.view.as_of
    reader = at_time_asked(meaning, reader)
    with stopwatch.stage("analysis"):
        analysis = analysed(request.query, meaning, now)
    with stopwatch.stage("searches"):
        found = await propose(request, meaning, parts, reader)
    with stopwatch.stage("ranking"):
        ranked = await scored(found[: request.candidates], analysis, request, meaning, parts, reader)
        entities = chosen(ranked, request)
    return RankResult(
        query=request.query,
        ranking=request.ranking,
        entities=tuple(entities),
        analysis=analysis,
        as_of=reader.view.as_of,
        known_at=reader.view.known_at,
        found=len(found),
        denied=reader.denied,
        reason="" if entities else _why_nothing(request, len(ranked)),
        timings=stopwatch.milliseconds,
    )


def analysed(question: str, meaning: Understanding | None, now: datetime) -> Analysis:
    """The analysis of a question, with the entities that it names."""
    named = () if meaning is None else anchors_of(question, meaning.linked.links)
    return analyse(question, as_of=now, anchors=named)


async def scored(
    found: Sequence[FoundEntity],
    analysis: Analysis,
    request: RankRequest,
    meaning: Understanding | None,
    parts: Parts,
    reader: Reader,
) -> list[FoundEntity]:
    """All that was found, by score; the years of what is not dated are those of its memories."""
    connected = await connections([each.entity.id for each in found], reader)
    dates = {each.entity.id: years_of(each.entity) for each in found}
    if analysis.periods and (undated := [id_ for id_, years in dates.items() if not years]):
        dates |= await episodes(undated, reader)
    named = meaning is not None and any(each > CERTAIN for each in meaning.linked.probabilities.values())
    weights = request.weights or weights_for(Ranking(request.ranking), named=named, dated=bool(analysis.periods))
    examined = [attrs.evolve(each, dates=dates[each.entity.id], **connected.get(each.entity.id, {})) for each in found]
    return rank(examined, analysis, weights, parts.scoring.feedback_influence)


def chosen(ranked: Sequence[FoundEntity], request: RankRequest) -> list[FoundEntity]:
    """The entities to show: the best, or picked for diversity."""
    return picked(
        ranked, request, lambda each: each.score, lambda each: f"{each.entity.name}\n{each.entity.description}"
    )


def _why_nothing(request: RankRequest, ranked: int) -> str:
    if not request.query.strip():
        return "nothing was asked"
    if ranked:
        return f"none of {ranked} entities scores {request.min_score:g} or more"
    return "no visible entity shares a word or a meaning with the question"


def rank(
    candidates: Sequence[FoundEntity], question: Analysis, weights: RankingWeights, feedback_influence: float
) -> list[FoundEntity]:
    """Entities by their scores for a question, ties by name and id; independent of the order of ``candidates``."""
    best = max((each.original for each in candidates), default=0.0)
    busiest = max((each.connections for each in candidates), default=0)
    factors = [factors_of(each, question, weights, best=best, busiest=busiest) for each in candidates]
    relevance = np.array([sum(factor.contribution for factor in each) for each in factors])
    feedback = np.array([each.entity.feedback_weight for each in candidates])
    parts = with_feedback(relevance, feedback, feedback_influence)
    ranked = [
        attrs.evolve(each, factors=own, relevance=whole, relevance_part=relevant, feedback_part=learnt)
        for each, own, whole, relevant, learnt in zip(
            candidates, factors, relevance.tolist(), *(part.tolist() for part in parts), strict=True
        )
    ]
    return sorted(ranked, key=lambda each: (-each.score, _names(each.entity), each.entity.id))


def factors_of(
    found: FoundEntity, question: Analysis, weights: RankingWeights, *, best: float, busiest: int
) -> tuple[ScorePart, ...]:
    """The factors of one entity, given the greatest original score and the greatest number of connections."""
    periods = [Years(*period.years) for period in question.periods]
    values = {
        "original": found.original / best if best else 0.0,
        "connection": found.connections / busiest if busiest else 0.0,
        "temporal": temporal_match(found.dates, periods),
        "query_match": query_match(found, question),
        "entity_type": answer_match(answer_weight(question.question_type, found.entity.type)),
    }
    return tuple(
        ScorePart(name=name, value=value, weight=weight)
        for name, value in values.items()
        if (weight := getattr(weights, name))
    )


LEAST, MOST = 0.5, 2.0
"""Weights are clamped to this range, and scaled so that its ends become 0 and 1."""
NEUTRAL: Final = 1.0
_TAGS: Final[Mapping[str, str]] = {
    "per": "person",
    "org": "organisation",
    "organization": "organisation",
    "loc": "place",
    "gpe": "place",
    "location": "place",
    "fac": "facility",
}
"""Types as taggers of named entities write them."""
_OTHERS: Final = ""
"""Stands for all types that are not listed."""
_WEIGHTS: Final[Mapping[QuestionType, Mapping[str, float]]] = {
    QuestionType.WHO: {"person": 2.0, "organisation": 0.5, "place": 0.3, "date": 0.8},
    QuestionType.WHERE: {"place": 2.0, "facility": 1.5, "organisation": 0.7, "person": 0.5, "date": 0.5},
    QuestionType.WHEN: {"date": 2.0, "event": 1.5, _OTHERS: 0.8},
    QuestionType.HOW_MANY: {"quantity": 2.0, "date": 1.0, _OTHERS: 0.8},
    QuestionType.WHY: {"event": 1.5, "person": 1.2, "organisation": 1.2, "date": 1.2, "place": 1.0},
    QuestionType.WHAT_ORGANISATION: {"organisation": 2.0, "person": 0.7, _OTHERS: 0.8},
    QuestionType.WHAT_POSITION: {"person": 1.5, "organisation": 1.5, "date": 1.5, "place": 1.2},
    QuestionType.WHAT_EVENT: {"event": 2.0, "date": 1.5, "place": 1.3, "person": 1.2, "organisation": 1.2},
}


def answer_weight(question_type: QuestionType, entity_type: str) -> float:
    """The weight of a type of entity for a type of question; 1.0 if not listed."""
    weights, entity_type = _WEIGHTS.get(question_type, {}), entity_type.casefold()
    return weights.get(_TAGS.get(entity_type, entity_type), weights.get(_OTHERS, NEUTRAL))


def answer_match(weight: float) -> float:
    """A weight, clamped to [0.5, 2], as a factor in [0, 1]: (weight − 0.5) / 1.5."""
    return (min(max(weight, LEAST), MOST) - LEAST) / (MOST - LEAST)


FIELDS: Final = {"name": 3.0, "summary": 1.5, "connected": 1.0, "attributes": 1.0, "labels": 0.5}
"""The weights of the texts of an entity."""
PROPER_NOUN: Final = 2.0
TOTAL: Final = PROPER_NOUN + sum(FIELDS.values())
SHORT: Final = 2
"""Terms with this few letters are no evidence."""


def query_match(found: FoundEntity, question: Analysis) -> float:
    """The share of the question's terms that each field contains, weighted and divided by 9; in [0, 1].

    Terms have more than two letters. Proper nouns count once more if any field contains them whole.
    """
    wanted = {term for term in question.terms if len(term) > SHORT}
    entity = found.entity
    texts = (
        [_names(entity)],
        [entity.description],
        found.connected_names,
        [*_words(entity.attributes)],
        entity.labels,
    )
    fields = [frozenset(term for text in field for term in terms(text)) for field in texts]
    shares = (len(wanted & field) / len(wanted) if wanted else 0.0 for field in fields)
    matched = sum(weight * share for weight, share in zip(FIELDS.values(), shares, strict=True))
    everything = frozenset[str]().union(*fields)
    nouns = [noun for each in question.proper_nouns if (noun := frozenset(terms(each)))]
    whole = sum(noun <= everything for noun in nouns) / len(nouns) if nouns else 0.0
    return (matched + PROPER_NOUN * whole) / TOTAL


def _names(entity: Entity) -> str:
    return "\n".join((entity.name, *entity.aliases))


def _words(value: Any) -> Iterator[str]:
    """The texts in the value of an attribute."""
    match value:
        case Mapping():
            for name, item in value.items():
                yield name
                yield from _words(item)
        case list() | tuple():
            for item in value:
                yield from _words(item)
        case None:
            return
        case _:
            yield str(value)


INSIDE: Final = 1.0
OPEN_ENDED: Final = 0.8
UNDATED: Final = 0.5
OUTSIDE: Final = 0.3
PAIRS: Final = (
    ("valid_from", "valid_to"),
    ("valid_at", "invalid_at"),
    ("term_start", "term_end"),
    ("start_date", "end_date"),
)
"""Attributes of an entity that are the two ends of one period; each also counts alone."""
SINGLE: Final = ("year", "date")
"""Attributes that name one year."""
_YEAR: Final = re.compile(r"(?<![\d.])([12]\d{3})(?!\d)")
_RANGE: Final = re.compile(r"(?<![\d.])([12]\d{3})\s?(?:-|–|—|to)\s?([12]\d{3})(?![\d-])")

_OPEN: Final = re.compile(
    r"(?<![\d.\-–—])([12]\d{3})\s?(?:(?:[-–—]|to)\s?(?:present|now|today|date|ongoing)|[-–—])(?=\s*(?:$|[,;.)\]]))",
    re.IGNORECASE,
)


def temporal_match(known: Iterable[Years], requested: Iterable[Years]) -> float:
    """The best fit of any of an entity's periods to any of the requested ones.

    1.0 if they overlap, 0.8 if they overlap and the entity's has an open end, 0.5 without known periods, 0.3 if none
    overlaps; 1.0 if no years are requested.
    """
    wanted = tuple(requested)
    if not wanted:
        return INSIDE
    fits = [_fit(period, wanted) for period in known]
    return max(fits, default=UNDATED)


def _fit(period: Years, wanted: Iterable[Years]) -> float:
    if not any(period.meet(requested) for requested in wanted):
        return OUTSIDE
    return OPEN_ENDED if None in period else INSIDE


def years_of(entity: Entity) -> tuple[Years, ...]:
    """The periods of an entity, in years: its own validity, and those in its attributes.

    Reads the pairs of `PAIRS`, the single years of `SINGLE`, and ranges such as "2011-2017", and open ones such as
    "2019-" and "2019-present", in the text of any attribute. Dates are numbers or text with a year of four digits; a
    pair whose end precedes its start is ignored.
    """
    return tuple(dict.fromkeys(_years(entity)))


def _years(entity: Entity) -> Iterator[Years]:
    # A period that ends at New Year does not overlap the new year.
    ended = entity.valid_to - timedelta(microseconds=1) if entity.valid_to else None
    own = {"valid_from": entity.valid_from and entity.valid_from.year, "valid_to": ended and ended.year}
    for source in (own, entity.attributes):
        for start, end in PAIRS:
            yield from _period(_year(source.get(start)), _year(source.get(end)))
    for name in SINGLE:
        value = entity.attributes.get(name)
        year = None if isinstance(value, str) and _OPEN.search(value) else _year(value)
        yield from _period(year, year)
    for text in _words(entity.attributes):
        for first, last in _RANGE.findall(text):
            yield from _period(int(first), int(last))
        for first in _OPEN.findall(text):
            yield from _period(int(first), None)


def _period(first: int | None, last: int | None) -> Iterator[Years]:
    if (first is not None or last is not None) and not (first is not None and last is not None and first > last):
        yield Years(first, last)


def _year(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _YEAR.search(value) if isinstance(value, str) else None
    return int(match[1]) if match else None
