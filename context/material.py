"""The material of a block: what pays of what was found, how little in doubt, what holds now first; as lines. Pure.

The line of a memory pays by its place, by what it covers of the question, and by what stands above it:

    place ≤ FEW · (1 − ANSWERED · covered above) · MORE ^ (what it covers, relative to the best line)

Scores do not decide: relative to the best they mean something else in every scope. Constants are measured, each set by
the others: see docs/project/measurements/context-blocks.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final

import attrs

from graphsearch._support.verbs import ask
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES
from graphsearch.context.sections import (
    CO_OCCURRENCE,
    ENOUGH,
    FIRST,
    FOREIGN,
    LOW_SCORE,
    NO_TEXT,
    OF_OTHERS,
    RELATED,
    RELEVANCE,
    REPEATS,
    Forms,
    Omitted,
    TripletText,
    key_of,
    labelled,
)
from graphsearch.engine import Engine
from graphsearch.model import ElementKind, Memory, Scope, Triplet
from graphsearch.modes.result import SearchRequest, SearchResult, Summary
from graphsearch.question.analysis import HEALTHY, MAX_READ, Analysis, QuestionType
from graphsearch.question.question_text import spread
from graphsearch.question.understanding import AskedName, Interpretation
from graphsearch.ranking.recall_result import RecalledMemory, RecallRequest, RecallResult
from graphsearch.ranking.recaller import floor_of
from graphsearch.text.rendering import (
    IN_DOUBT,
    NEWEST_FIRST,
    OBSERVATIONS,
    memory_line,
    safe_text,
    short_triplet_line,
    with_fact,
)
from graphsearch.text.word_lists import word_set

FEW: Final = 15.0
"""Lines without a word of the question that are shown while nothing of it is covered."""
ANSWERED: Final = 0.7
"""The share of these that is saved once the lines above cover the whole question."""
MORE: Final = 3.0
"""How many times later a line may come that covers as much of the question as the best one."""

ALWAYS: Final = 4
"""The best triplets, which stay in any case: there is no telling an answer by the relevance of so few."""
ANSWERING: Final = 0.5
"""A triplet with at least this share of the best relevance is an answer, too, so that no single answer takes all."""
DIRECT: Final = 0.3
"""The least share of the best relevance of a triplet at a name of the question."""
ONWARD: Final = 0.05
"""That of a triplet one hop on from an answer: the second step of "who leads the team that …"."""
HOPS: Final = 0.3
"""The share of its relevance that a triplet has from a hop, if it is one hop on."""

DENSE: Final = 0.5
"""The share of the memories that must state something to the graph, for its silence to mean anything."""
WORDED: Final = 0.3
"""The share of the question that must be words of the relation that it asks for, for the same."""


Terms = Callable[[str], Sequence[str]]
"""The terms of a text."""


def paying(covered: Sequence[AbstractSet[str]], rarity: Mapping[str, float]) -> list[int]:
    """The rows of the lines that pay, best first as given: by the terms of each, and how rare those of a question are.

    Only terms that any line has count: words that nobody wrote are no reason for more lines. The first always pays.
    """
    heard = frozenset[str]().union(*covered) & rarity.keys()
    whole = _weight(heard, rarity) or 1.0
    shares = [_weight(terms & heard, rarity) / whole for terms in covered]
    best = max(shares, default=0.0) or 1.0
    above: set[str] = set()
    rows = []
    for row, share in enumerate(shares):
        few = FEW * (1.0 - ANSWERED * _weight(above, rarity) / whole)
        if row == 0 or row + 1 <= few * MORE ** (share / best):
            rows.append(row)
        above |= covered[row] & heard
    return rows


def _holds_more(
    some: Iterable[AbstractSet[str]], others: Iterable[AbstractSet[str]], rarity: Mapping[str, float]
) -> bool:
    """Whether one of some lines has more of the question, by the terms of each, than each of the others."""
    one, other = (
        max((_weight(each & rarity.keys(), rarity) for each in lines), default=0.0) for lines in (some, others)
    )
    return one > other


def _weight(terms: AbstractSet[str], rarity: Mapping[str, float]) -> float:
    return math.fsum(rarity[term] for term in terms)


def answering(triplets: Sequence[Triplet], rows: Sequence[int]) -> list[int]:
    """Of the ``rows`` of triplets, best first, those that answer, or go one hop on from an answer.

    All stay that were ranked by distance alone: they are what was asked for. Of the first `ALWAYS` only what is beneath
    a twentieth of the best goes: of others than those whom the question names.
    """
    near = {row: triplets[row].breakdown.proximity for row in rows}
    best = max(near.values(), default=0.0)
    ends = {end for row in rows if near[row] >= ANSWERING * best for end in _ends(triplets[row])}

    def answers(row: int) -> bool:
        parts = triplets[row].breakdown.relevance
        onward = parts.get("hops", 0.0) > HOPS * near[row] and not ends.isdisjoint(_ends(triplets[row]))
        return not parts or near[row] >= best * (ONWARD if onward else DIRECT)

    return [row for place, row in enumerate(rows) if (place < ALWAYS and near[row] >= ONWARD * best) or answers(row)]


def _ends(triplet: Triplet) -> tuple[object, object]:
    return triplet.source.id, triplet.target.id


def doubt(
    recalled: RecallResult,
    found: SearchResult | None,
    covered: Sequence[AbstractSet[str]],
    floor: float,
    terms: Terms,
) -> str:
    """Why what was found may well not answer the question; empty where nothing speaks against it.

    It is less relevant than the ``floor``, and the graph does not answer in the question's own words either; or no
    memory or end of a triplet has a word for half of what the question writes as names, by rarity; or nothing has a
    word of what is asked of a name; or the graph, which holds what most of these memories state, has no answer in the
    question's own words. ``covered``: the ``terms`` of the memories. A reason says what was found, never what there is:
    some of it may be hidden, or worded otherwise.
    """
    meant = found.interpretation if found is not None and found.anchors else None
    worded = meant is not None and meant.worded >= WORDED
    ends = [end for each in (found.triplets if found else ()) for end in (each.source, each.target)]
    if recalled.relevance < floor and not (worded and ends):
        return f"what was found has little to do with the question ({recalled.relevance:.2f}, less than {floor:g})"
    called = (terms(" ".join((each.name, *each.aliases))) for each in ends)
    rarity, heard = recalled.rarity, frozenset[str]().union(*covered, *called)
    names = {each.text: rarity.keys() & terms(each.text) for each in recalled.analysis.names if not each.tentative}
    every = frozenset[str]().union(*names.values())
    if every and 2.0 * _weight(every - heard, rarity) >= _weight(every, rarity):
        return f"what was found has no word of {', '.join(name for name in names if names[name] - heard)}"
    if found and meant and not worded and not recalled.analysis.features.broad:
        said = (terms(f"{spread(each.relation.type)} {each.relation.fact}") for each in found.triplets)
        heard = heard.union(*said)
        for asked in _asked_of(recalled.analysis.question, meant.names):
            if (sought := rarity.keys() & terms(asked)) and heard.isdisjoint(sought):
                return f"what was found has no word of {asked}"
    reasons = recalled.analysis.question_type in (QuestionType.WHY, QuestionType.HOW)  # which no relation states
    if worded and not ends and not reasons and recalled.stating >= DENSE:
        return "what was found states other things of what the question names"
    return ""


_IS: Final = r"(?:^|\b(?:is|are|was|were)|['’]s)\s*"
_IS_THEN: Final = re.compile(rf"{_IS}(?:the name of )?$", re.IGNORECASE)
_BEFORE: Final = re.compile(rf"{_IS}\bthe\s+((?:[\w-]+\s+){{1,3}}?)of\s+(?:the\s+)?$", re.IGNORECASE)
_BEHIND: Final = re.compile(r"['’]s?\s+([\w-]+(?:\s+[\w-]+){0,2})\W*$")
_UNSAID: Final = word_set("name names news plan plans progress reason role state status update updates")
"""What texts tell without these words."""


def _asked_of(question: str, names: Iterable[AskedName]) -> Iterator[str]:
    """What a question asks of names: "what is the wifi password of Kassel?", "who was Kassel's mayor?"."""
    for name in names:
        before = question[: name.start]
        found = _BEHIND.match(question[name.end :]) if _IS_THEN.search(before) else _BEFORE.search(before)
        if found and _UNSAID.isdisjoint(found[1].lower().split()):
            yield found[1].strip()


# -- what holds now ---------------------------------------------------------------------------------------------------

_OF_ONE_THING: Final = frozenset(QuestionType) - {QuestionType.WHY, QuestionType.HOW, QuestionType.OTHER}
_YES_OR_NO: Final = re.compile(r"\W*(?:is|are|am|do|does|can|may|should|must)\b", re.IGNORECASE)
_PAST: Final = word_set(
    "did was were had ever before earlier original originally initial initially previous previously former formerly "
    "once history between changed change changes"
)
_USED_TO: Final = re.compile(r"\buse[sd]? to\b", re.IGNORECASE)


def asks_the_present(analysis: Analysis) -> bool:
    """Whether a question asks for one thing as it is now: "what is the budget?", not "what was …", "why …"."""
    question = analysis.question[:MAX_READ]
    one = analysis.question_type in _OF_ONE_THING or _YES_OR_NO.match(question)
    past = not _PAST.isdisjoint(re.findall(r"\w+", question.lower())) or _USED_TO.search(question)
    return bool(one and not past and not analysis.features.broad)


def current_first(memories: Sequence[RecalledMemory]) -> list[RecalledMemory]:
    """Memories best first, each that is over right behind the first of those that say what came after it."""
    places = {each.memory.id: place for place, each in enumerate(memories)}

    def place(row: int) -> tuple[int, bool, int]:
        after = [places[id_] for id_ in memories[row].followed_by if id_ in places]
        return (min(after), True, row) if after and min(after) > row else (row, False, row)

    return [memories[row] for row in sorted(range(len(memories)), key=place)]


def newest_first(memories: Sequence[Memory]) -> tuple[int, ...] | None:
    """The rows of memories, the newest first; None if one of them has no date."""
    moments = [(each.occurred_at, each.position) for each in memories if each.occurred_at]
    if len(moments) < len(memories):
        return None
    return tuple(sorted(range(len(memories)), key=moments.__getitem__, reverse=True))


MEMORIES: Final = 50
"""The number of memories requested: more than fit any default budget."""
WORDS: Final = 50
"""The best memories are cut to excerpts of this many words (65 tokens): fewer lose answers, more lose memories."""
SHORTER: Final = (25, 16, 8, 4)
"""The words of the other memories, and of the best one where the budget has no room for more of it."""
LEAST: Final = 0.2
"""The least relevance of an answer: that of one that lacks a third of the evidence of an ideal one."""
LONGEST_LABEL: Final = 40
"""Characters of the name of a project before a line."""
FAINT: Final = 0.01
"""Triplets with a lower score are left out when there are observations."""


@attrs.frozen(kw_only=True)
class Material:
    """What a block may show of what was found, each with its line; memories of one line in several scopes share it.

    * ``memories``: best first, what holds now before what is over; ``memory_lines`` has the lines of each. They are
      printed in the ``memory_order``, below the ``heading``. ``memories_found`` includes those left out here.
    * ``triplets``: those that answer, best first, printed in the ``prompt_order``, as in `SearchResult`;
      ``triplets_found`` includes the others. ``related``: the part of the budget of those that do not answer.
    * ``labels``: those of scopes that lines begin with, none where one scope was searched.
    * ``doubt``: why this may not answer. ``reason``: why nothing was found. Else empty.
    * ``interpretation``: what was understood from the question, if the search interprets it.
    * ``omitted``: by key, why one of the first that were found is not in it. ``found`` and ``recalled``: all that was.
    """

    memories: tuple[tuple[RecalledMemory, ...], ...] = ()
    memory_lines: tuple[Forms, ...] = ()
    memories_found: int = 0
    memory_order: tuple[int, ...] | None = None
    related: float = RELATED
    heading: str = OBSERVATIONS
    triplets: tuple[Triplet, ...] = ()
    triplet_lines: tuple[TripletText, ...] = ()
    triplets_found: int = 0
    prompt_order: tuple[int, ...] | None = None
    labels: frozenset[str] = frozenset()
    summary: Summary | None = None
    denied: Mapping[ElementKind, int]
    doubt: str = ""
    reason: str = ""
    interpretation: Interpretation | None = None
    omitted: Mapping[str, Omitted] = attrs.field(factory=dict)
    found: SearchResult | None = None
    recalled: RecallResult | None = None


async def material(engine: Engine, search: SearchRequest | None, recall: RecallRequest | None) -> Material:
    """Find the material for a question in one snapshot; what is None is not searched.

    Gate and times are those of the search. Memories of little relevance are recalled too: see `doubt`.
    """
    if recall is None:
        return of_triplets(await ask(engine.search, search))
    if search is None:
        return of_found(engine, None, await ask(engine.recall, recall))
    return of_found(engine, *await engine.search_and_recall(search, recall))


def of_found(engine: Engine, found: SearchResult | None, recalled: RecallResult) -> Material:
    """The material of what was searched and recalled."""
    usual = RecallRequest(recalled.query)
    floor = floor_of(usual, engine.recall_scoring, dense=recalled.weights["semantic"] > 0)
    return of_both(found, recalled, engine.stores[0].analyser.terms, floor)  # which are those of all


def of_triplets(found: SearchResult, rows: Sequence[int] | None = None) -> Material:
    """The triplets of some ``rows`` that answer, of all by default."""
    shown = answering(found.triplets, range(len(found.triplets)) if rows is None else rows)
    triplets = tuple(found.triplets[row] for row in shown)
    labels = [_label(each.scopes, found.scopes) for each in triplets]
    least = max(ANSWERING * max((each.breakdown.proximity for each in triplets), default=0.0), LEAST)
    others = (key_of(each) for row, each in enumerate(found.triplets[:FIRST]) if row not in shown)
    return Material(
        triplets=triplets,
        triplet_lines=tuple(_text(each, least, label) for each, label in zip(triplets, labels, strict=True)),
        labels=frozenset(labels) - {""},
        triplets_found=len(found.triplets),
        prompt_order=_among(shown, found.prompt_order),
        summary=found.summary,
        denied=found.denied,
        reason=found.reason,
        interpretation=found.interpretation,
        omitted=dict.fromkeys(others, RELEVANCE),
        found=found,
    )


def of_both(found: SearchResult | None, recalled: RecallResult, terms: Terms, floor: float) -> Material:
    """Memories that pay, and if a graph was searched triplets that answer, with a statement and enough of a score."""
    alike: dict[str, dict[tuple[Scope, ...], RecalledMemory]] = {}
    omitted = dict[str, Omitted]()
    for each in current_first(recalled.memories):
        line = _line(each, WORDS, recalled, terms)
        same = alike.setdefault(line, {}) if line else {}
        if not line or each.scopes in same:
            omitted[key_of(each)] = REPEATS if line else NO_TEXT
        else:
            same[each.scopes] = each
    covered = [frozenset(terms(line)) for line in alike]
    foreign = recalled.relevance < floor and recalled.rarity.keys().isdisjoint(chain.from_iterable(covered))
    why = doubt(recalled, found, covered, floor, terms)
    if not alike or foreign:
        strange = {key_of(each): FOREIGN for each in recalled.memories}
        graph = of_triplets(found) if found else Material(denied=recalled.denied, reason=recalled.reason or why)
        return attrs.evolve(graph, omitted={**graph.omitted, **strange, **omitted}, recalled=recalled)
    graph = Material(denied=recalled.denied)
    if found is not None:
        graph = of_triplets(found, [row for row, each in enumerate(found.triplets) if _counts(each)])
        omitted.update(graph.omitted)
        stated = (frozenset(terms(each.line)) for each in graph.triplet_lines)
        if not found.anchors and _holds_more(covered, stated, recalled.rarity):
            # nothing is named: what says it in the question's own words goes first, as notes do beside code
            behind = tuple(attrs.evolve(each, answers=False) for each in graph.triplet_lines)
            graph = attrs.evolve(graph, triplet_lines=behind)
        faint = (each for each in found.triplets[:FIRST] if not _counts(each))
        omitted |= {key_of(each): LOW_SCORE if _is_statement(each) else CO_OCCURRENCE for each in faint}
    every, paying_rows = list(alike.items()), paying(covered, recalled.rarity)
    rows = _of_those_asked(paying_rows, covered, graph, terms)
    paid = [every[row] for row in rows]
    for row in {*range(len(every))} - {*rows}:
        omitted |= {key_of(each): OF_OTHERS if row in paying_rows else ENOUGH for each in every[row][1].values()}
    memories = [tuple(same.values()) for _, same in paid]
    labels = [_label(chain.from_iterable(sorted(same)), recalled.scopes) for _, same in paid]
    forms = [
        tuple(labelled(each, label) for each in (line, *(_line(same[0], words, recalled, terms) for words in SHORTER)))[
            bool(why) :
        ]
        for (line, _), same, label in zip(paid, memories, labels, strict=True)
    ]
    order = None
    if not why and asks_the_present(recalled.analysis):
        order = newest_first([same[0].memory for same in memories])
    return attrs.evolve(
        graph,
        memories=tuple(memories),
        memory_lines=tuple(forms),
        memories_found=len(alike),
        memory_order=order,
        related=RELATED * min(1.0, (1.0 if recalled.health is None else recalled.health) / HEALTHY),
        heading=IN_DOUBT if why else NEWEST_FIRST if order else OBSERVATIONS,
        labels=graph.labels.union(labels) - {""},
        doubt=why,
        reason="",
        omitted=omitted,
        recalled=recalled,
    )


def _of_those_asked(
    rows: Sequence[int], covered: Sequence[AbstractSet[str]], graph: Material, terms: Terms
) -> list[int]:
    """The rows of memories that have a word of a name of the question, or of what the graph says of it.

    All of them, unless the graph answers in the question's own words: then others say the same of somebody else.
    """
    meant, answered = graph.interpretation, any(each.answers for each in graph.triplet_lines)
    if not (meant and answered and graph.found and graph.found.anchors and meant.worded >= WORDED):
        return [*rows]
    ends = (name for each in graph.triplets for end in (each.source, each.target) for name in (end.name, *end.aliases))
    about = {*terms(" ".join((*ends, *(each.written for each in meant.names))))}
    return [row for row in rows if not about.isdisjoint(covered[row])]


def _counts(triplet: Triplet) -> bool:
    """Whether a triplet is worth a line beside observations: it states something, and has not faded."""
    return triplet.score >= FAINT and _is_statement(triplet)


def _line(recalled: RecalledMemory, words: int, result: RecallResult, terms: Terms) -> str:
    """The line of a memory, of which at most so many words of the text are shown."""
    text = excerpt(recalled.memory.text, result.rarity, terms, words)
    return memory_line(attrs.evolve(recalled.memory, text=text), until=recalled.until, now=recalled.now)


def _label(scopes: Iterable[Scope], searched: Collection[Scope]) -> str:
    """The projects that a line comes from; empty where one scope was searched."""
    if len(searched) <= 1:
        return ""
    return ", ".join(safe_text(scope.project_id).replace("]", "")[:LONGEST_LABEL] for scope in scopes)


def _among(kept: Sequence[int], order: Sequence[int] | None) -> tuple[int, ...] | None:
    """An order of all triplets, restricted to the kept ones and renumbered."""
    if order is None:
        return None
    now = {place: row for row, place in enumerate(kept)}
    return tuple(now[place] for place in order if place in now)


def _text(triplet: Triplet, least: float, label: str) -> TripletText:
    statement = _is_statement(triplet)
    short, fact = labelled(short_triplet_line(triplet, dated=statement), label), safe_text(triplet.relation.fact)
    answers = statement and triplet.breakdown.proximity >= least
    return TripletText(with_fact(short, fact), short, fact, answers=answers)


def _is_statement(triplet: Triplet) -> bool:
    """Whether a triplet states more than that two names occur together, for which no period is worth a word."""
    return triplet.relation.type not in CO_OCCURRENCE_TYPES


REPEATED: Final = 0.3
"""The weight of a term that an earlier chosen sentence holds, relative to a new one."""
ADJACENT: Final = 0.02
"""The weight of being adjacent to a chosen sentence, as a share of the rarest term's: a tie-breaker."""
OPENING: Final = 0.01
"""The weight of being the first sentence, which introduces the topic; also as a share of the rarest term's."""
CUT: Final = "…"
_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*+\s++|(?<!\s)[^\S\n]*+\n\s*+")
_CHARACTERS: Final = 8
"""The least characters of a word with its space, so that scripts without spaces have a size."""


def size(text: str) -> int:
    """Words of a text; an eighth of its characters if it has no spaces or very long words."""
    return max(len(text.split()), len(text) // _CHARACTERS)


@attrs.frozen(eq=False)
class _Sentence:
    text: str
    size: int
    held: frozenset[str]


def excerpt(text: str, weights: Mapping[str, float], terms: Terms, words: int) -> str:
    """Shorten a text to at most about ``words`` words: the sentences that hold most of the question, in their order.

    Other sentences are included if they are adjacent to one that holds some of it, or begin the text; if none holds
    any, all sentences are eligible. ``weights`` are the weights of the question's terms, as made by ``terms``. An
    omission is marked by "…". A text that is short enough is returned unchanged.
    """
    if size(text) <= words:
        return text
    sentences = [_Sentence(each, size(each), frozenset(terms(each)) & weights.keys()) for each in _split(text, words)]
    taken = _chosen(sentences, weights, words)
    parts = [sentences[row].text if row == 0 or row - 1 in taken else f"{CUT} {sentences[row].text}" for row in taken]
    return " ".join([*parts, CUT] if taken[-1] != len(sentences) - 1 else parts)


def _split(text: str, words: int) -> list[str]:
    """The sentences of a text; those longer than ``words`` are cut into pieces of that many."""
    pieces: list[str] = []
    for sentence in filter(None, map(str.strip, _SENTENCE.split(text))):
        pieces += _pieces(sentence, words) if size(sentence) > words else [sentence]
    return pieces


def _pieces(sentence: str, words: int) -> list[str]:
    parts = sentence.split()
    if size(sentence) > len(parts):  # hardly any spaces
        length = words * _CHARACTERS
        return [sentence[start : start + length] for start in range(0, len(sentence), length)]
    return [" ".join(parts[start : start + words]) for start in range(0, len(parts), words)]


def _chosen(sentences: Sequence[_Sentence], weights: Mapping[str, float], words: int) -> list[int]:
    """Choose greedily the rows of the sentences that add most of the question, as long as they fit."""
    rarest = max(weights.values(), default=1.0)
    taken: set[int] = set()
    known: set[str] = set()
    left = words
    open_ = _worth_showing(sentences)
    while True:
        gains = {
            row: _gain(each, known, weights)
            + rarest * (ADJACENT * bool({row - 1, row + 1} & taken) + OPENING * (row == 0))
            for row, each in enumerate(sentences)
            if row not in taken and row in open_ and each.size <= left
        }
        if not gains:
            return sorted(taken)
        best = max(gains, key=lambda row: (gains[row], -row))
        taken.add(best)
        known |= sentences[best].held
        left -= sentences[best].size


def _worth_showing(sentences: Sequence[_Sentence]) -> set[int]:
    """The rows of the sentences that hold some of the question, their neighbours, and the first; if none does, all."""
    around = {row + step for row, each in enumerate(sentences) if each.held for step in (-1, 0, 1)}
    return around | {0} if around else set(range(len(sentences)))


def _gain(sentence: _Sentence, known: set[str], weights: Mapping[str, float]) -> float:
    return sum(weights[term] * (REPEATED if term in known else 1.0) for term in sorted(sentence.held))
