"""The material of a block: what pays of what was found, how little in doubt, what holds now first; as lines. Pure.

The line of a memory pays by its place, by what it covers of the question, and by what stands above it:

    place ≤ FEW · (1 − ANSWERED · covered above) · MORE ^ (what it covers, relative to the best line)

Scores do not decide: relative to the best they mean something else in every scope. Constants are measured, each set by
the others: see docs/project/measurements/context-blocks.md.
"""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from functools import partial
from itertools import chain
from typing import Final

import attrs

from graphsearch._support.verbs import ask
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES
from graphsearch.context.tokens import fits
from graphsearch.engine import Engine
from graphsearch.model import ElementKind, Memory, Scope, Triplet
from graphsearch.modes.result import SearchRequest, SearchResult, Summary
from graphsearch.protocols import TokenCounter
from graphsearch.question.analysis import HEALTHY, MAX_READ, Analysis, QuestionType, spread
from graphsearch.question.understanding import AskedName, Interpretation
from graphsearch.ranking.recall_result import RecalledMemory, RecallRequest, RecallResult
from graphsearch.ranking.recaller import floor_of
from graphsearch.text.rendering import (
    IN_DOUBT,
    NEWEST_FIRST,
    OBSERVATIONS,
    TRIPLETS,
    memory_line,
    safe_text,
    short_triplet_line,
    with_fact,
)
from graphsearch.text.word_lists import word_set

# -- laid out ----------------------------------------------------------------------------------------------------------

FIRST = 25
"""Of so many of the best triplets, and of as many memories, a block says why they are not in it."""


@attrs.frozen
class BlockLine:
    """A line of a block.

    * ``key``: "relation:ID" or "memory:ID"; empty for a heading. ``text``: the line, without its line break.
    * ``tokens``: of the line with its line break, which the last line has not. A `TiktokenCounter` counts line by line,
      so that they add up to the tokens of the block; with a counter that merges lines they need not.
    """

    key: str
    text: str
    tokens: int


class Reason(StrEnum):
    """Why something that was found is not in a block."""

    ROOM = "room"
    SHARE = "share"
    """It would fit, but not into the part of the budget that its section may use."""
    REPEATS = "repeats"
    ENOUGH = "enough"
    """Better memories cover the question."""
    RELEVANCE = "relevance"
    FLOOR = "floor"
    """Its score has faded: beside memories it is worth no line."""
    CO_OCCURRENCE = "co_occurrence"
    """It states nothing but that two names occur together."""
    DOUBT = "doubt"
    """All that was found has little to do with the question."""
    NO_TEXT = "no_text"
    """A memory of which nothing can be shown."""


@attrs.frozen
class Omitted:
    """Something found that is not in a block: the ``reason``, also as a ``sentence``.

    ``key`` as in `BlockLine`; ``tokens``: what its line needs, where room is what it lacks, else 0.
    """

    reason: Reason
    sentence: str
    tokens: int = 0
    key: str = ""


REPEATS = Omitted(Reason.REPEATS, "It repeats what another line of the block says.")
ENOUGH = Omitted(Reason.ENOUGH, "The memories above it cover the question.")
OF_OTHERS = Omitted(Reason.ENOUGH, "A relation answers the question, and it says nothing of whom that is about.")
RELEVANCE = Omitted(Reason.RELEVANCE, "It is far less relevant to the question than the best relation.")
LOW_SCORE = Omitted(Reason.FLOOR, "Its score is too low for a line beside memories.")
CO_OCCURRENCE = Omitted(Reason.CO_OCCURRENCE, "It only says that two names occur together: no line beside memories.")
FOREIGN = Omitted(Reason.DOUBT, "It has no word of the question, and little to do with it.")
NO_TEXT = Omitted(Reason.NO_TEXT, "Its text is not kept: there is nothing to show.")
CROWDED = Omitted(Reason.ROOM, "No room: counted together, the lines need more than the budget.")


def no_room(tokens: int, left: int, budget: int) -> Omitted:
    """What does not fit into what is left of a budget."""
    return Omitted(Reason.ROOM, f"No room: it needs {tokens} tokens, and {left} of {budget} are left.", tokens)


def no_share(tokens: int, share: int) -> Omitted:
    """A relation that fits into the budget, but not into the part of it that relations have beside memories."""
    sentence = f"No room: it needs {tokens} tokens, and beside memories such relations may use {share} in all."
    return Omitted(Reason.SHARE, sentence, tokens)


def key_of(found: Triplet | RecalledMemory) -> str:
    """The key of an element."""
    if isinstance(found, Triplet):
        return f"{ElementKind.RELATION}:{found.relation.id}"
    return f"{ElementKind.MEMORY}:{found.memory.id}"


ANSWERS: Final = 0.5
"""The part of the budget that answering triplets may use before any observation."""
RELATED: Final = 0.2
"""The part of the budget that other triplets may use beside observations: these say more of what they are about."""
SPARED: Final = 1 / 3
"""The least part of a line that is worth a cut where there is room: half a sentence may be the answer."""
LENGTHS: Final = (2, 4)
"""How many memories have their longest line, and how many at least the next: a line that may hold something need not
hold it all, and more lines find more."""
NEW: Final = 0.1
"""The greatest share of new words at which a line counts as a rewording of another."""
_WORD: Final = re.compile(r"\w+(?:['’]\w+)?")
_DAY: Final = re.compile(r"^- \d{4}-\d\d-\d\d(?: \(until \d{4}-\d\d-\d\d(?:; now [^()]*+)?\))? ")
_DENYING: Final = frozenset(("no", "not", "never", "nor", "none", "without"))


Forms = tuple[str, ...]
"""The lines that show one memory, of which a block has one: the longest first."""


@attrs.frozen
class TripletText:
    """The ``line`` of a triplet, the ``short`` one without its fact, and that ``fact``, which may be empty.

    ``answers``: whether it answers the question, rather than only concerning the entities of the question.
    """

    line: str
    short: str
    fact: str
    answers: bool = False

    def after(self, observations: str) -> str:
        """The line without a fact that the observations contain already, unless the triplet is an answer."""
        return self.short if self.fact and self.fact in observations and not self.answers else self.line


@attrs.frozen
class Page:
    """What fits of both sections: indexes of the ``memories`` and ``triplets`` in print order, and the text.

    ``triplets_first``: the section of triplets precedes that of memories. ``memories_omitted`` and
    ``triplets_omitted``: why the others are not in it, by index; of triplets the first `FIRST`.
    """

    memories: tuple[int, ...]
    triplets: tuple[int, ...]
    text: str
    triplets_first: bool = False
    memories_omitted: Mapping[int, Omitted] = attrs.field(factory=dict)
    triplets_omitted: Mapping[int, Omitted] = attrs.field(factory=dict)


def lay_out(
    memories: Sequence[Forms],
    triplets: Sequence[TripletText],
    *,
    budget: int,
    counter: TokenCounter,
    related: float = RELATED,
    heading: str = OBSERVATIONS,
    memory_order: Sequence[int] | None = None,
    order: Sequence[int] | None = None,
    labels: Collection[str] = (),
) -> Page:
    """Lay out both sections, best first or in the orders given; the whole text never exceeds the budget.

    Answering triplets come first, each with its fact, as far as they fit into `ANSWERS` of the budget, the best of
    them in any case. Observations take what fits into the rest; other triplets take what is left, beside observations
    at most the part ``related`` of the budget. What then is left makes lines whole that were cut by little. A section
    without lines has no heading. ``labels`` may precede lines, and are no part of what these state.
    """
    answers = _answers(triplets, budget, counter, labels, alone=not memories)
    answered = compose(TRIPLETS, [triplets[index].line for index in answers])
    left = budget - _cost(answered, counter)
    lines = _cut(memories, left - counter.count(heading + "\n"), counter)
    fill = partial(pack, counter=counter, labels=labels)
    observed, repeated = fill(lines, left, heading=heading, order=memory_order, shown_text=answered)
    observations = compose(heading, [lines[index] for index in observed])
    graph = [triplet.after(observations) for triplet in triplets]
    room = budget - _cost(observations, counter)
    share = int(related * budget) if observed else budget
    if observed:
        room = min(room, _cost(answered, counter) + share)
    shown, repeating = fill(graph, room, heading=TRIPLETS, order=order, kept=answers)
    page = _fitting(_page(observed, shown, observations, triplets), observations, triplets, budget, counter)
    used = counter.count(page.text)
    whole = _lengthened(lines, memories, observed, budget - used, counter)
    if whole != lines:
        longer = _page(observed, page.triplets, compose(heading, [whole[index] for index in observed]), triplets)
        if (needed := counter.count(longer.text)) <= budget:  # lines need not add up to it
            page, used = longer, needed
    unused, line_break = budget - used, _cost(page.text, counter) - used

    def why(line: str, head: str, share: int) -> Omitted:
        needed = line_break + counter.count(line) + (counter.count(head + "\n") if head else 0)
        if needed > unused:
            return no_room(needed, unused, budget)
        return no_share(needed, share) if share < budget else CROWDED

    def omitted(
        lines: Sequence[str], placed: Sequence[int], repeats: frozenset[int], head: str, share: int
    ) -> Mapping[int, Omitted]:
        left = {*range(len(lines))} - {*placed}
        return {row: REPEATS if row in repeats else why(lines[row], "" if placed else head, share) for row in left}

    return attrs.evolve(
        page,
        memories_omitted=omitted(lines, page.memories, repeated, heading, budget),
        triplets_omitted=omitted(graph[:FIRST], page.triplets, repeating, TRIPLETS, share),
    )


def _cut(memories: Sequence[Forms], room: int, counter: TokenCounter) -> list[str]:
    """The line of each memory, by `LENGTHS` shorter further down; the best is cut until there is room for it."""
    lines = [forms[bisect(LENGTHS, place)] for place, forms in enumerate(memories)]
    if memories:
        lines[0] = next((form for form in memories[0] if counter.count(form) <= room), memories[0][-1])
    return lines


def _lengthened(
    lines: Sequence[str], memories: Sequence[Forms], rows: Iterable[int], room: int, counter: TokenCounter
) -> list[str]:
    """The lines, those of some rows at full length, best first, that were cut by less than `SPARED` and have room."""
    longer = [*lines]
    for row in sorted(row for row in rows if lines[row] != memories[row][0]):
        whole, cut = counter.count(memories[row][0]), counter.count(lines[row])
        if whole - cut <= min(room, SPARED * whole):
            longer[row] = memories[row][0]
            room -= whole - cut
    return longer


def _answers(
    triplets: Sequence[TripletText], budget: int, counter: TokenCounter, labels: Collection[str], *, alone: bool
) -> tuple[int, ...]:
    """The indexes of the answering triplets that are placed first; none if triplets are ``alone``.

    However small the budget, the best one is placed.
    """
    places = [place for place, triplet in enumerate(triplets) if triplet.answers]
    if alone or not places:
        return ()
    lines = [triplets[place].line for place in places]
    best = counter.count(compose(TRIPLETS, lines[:1]))
    allowance = min(max(int(budget * ANSWERS), best), budget)
    packed, _ = pack(lines, allowance, counter, heading=TRIPLETS, labels=labels)
    return tuple(places[index] for index in packed)


def _cost(section: str, counter: TokenCounter) -> int:
    return counter.count(section + "\n") if section else 0


def _page(
    observed: tuple[int, ...], shown: tuple[int, ...], observations: str, triplets: Sequence[TripletText]
) -> Page:
    graph = compose(TRIPLETS, [triplets[index].after(observations) for index in shown])
    answered = any(triplets[index].answers for index in shown)
    sections = (graph, observations) if answered else (observations, graph)
    return Page(observed, shown, "\n".join(filter(None, sections)), answered)


def _fitting(
    page: Page, observations: str, triplets: Sequence[TripletText], budget: int, counter: TokenCounter
) -> Page:
    """Drop the worst triplets until the page fits: token counts of sections need not add up to that of the whole."""
    while page.triplets and counter.count(page.text) > budget:
        kept = tuple(index for index in page.triplets if index != max(page.triplets))
        page = _page(page.memories, kept, observations, triplets)
    return page


def compose(heading: str, lines: Sequence[str]) -> str:
    """The text of a section; empty without lines."""
    return "\n".join((heading, *lines)) if lines else ""


def pack(
    lines: Sequence[str],
    budget: int,
    counter: TokenCounter,
    *,
    heading: str,
    order: Sequence[int] | None = None,
    kept: Sequence[int] = (),
    shown_text: str = "",
    labels: Collection[str] = (),
) -> tuple[tuple[int, ...], frozenset[int]]:
    """The indexes of the lines that fit under a heading, best first or in the print ``order``; and of those repeated.

    A line that does not fit, or that adds nothing to the lines before it and to the text ``shown_text``, is skipped and
    the next one tried; none is cut. The heading and the line breaks count. The lines ``kept`` are placed first. Lines
    are counted one by one, which need not add up to the whole: so the whole is counted in the end, and lines are
    dropped from the end until it fits.
    """
    chosen = list(kept)
    shown = ShownLines([*shown_text.splitlines(), *(lines[index] for index in kept)], labels)
    spent = counter.count(heading + "\n") + sum(counter.count(lines[index] + "\n") for index in kept)
    repeats = set[int]()
    for index, line in enumerate(lines):
        if index in kept or not fits(line, budget - spent, counter):
            continue
        if shown.holds(line):
            repeats.add(index)
            continue
        chosen.append(index)
        shown.add(line)
        spent += counter.count(line + "\n")
    printed = _in_order(chosen, order)
    while chosen and counter.count(compose(heading, [lines[index] for index in printed])) > budget:
        chosen.pop()
        printed = _in_order(chosen, order)
    return tuple(printed), frozenset(repeats)


def _in_order(chosen: Sequence[int], order: Sequence[int] | None) -> list[int]:
    return sorted(chosen) if order is None else [index for index in order if index in chosen]


class ShownLines:
    """The lines shown so far, as sets of words."""

    def __init__(self, lines: Sequence[str] = (), labels: Collection[str] = ()) -> None:
        self._labels = tuple(labels)
        self._lines = [frozenset(self._words(line).values()) for line in lines]

    def add(self, line: str) -> None:
        """Add a shown line."""
        self._lines.append(frozenset(self._words(line).values()))

    def holds(self, line: str) -> bool:
        """Whether a shown line has nearly all words of this line, and all of its numbers, names and negations.

        The day is ignored: what is repeated later is a repetition. So is the label, whichever scope repeats it.
        """
        words = self._words(line)
        lowered, few = frozenset(words.values()), NEW * len(words)
        return any(_repeats(words, lowered - other) for other in self._lines if len(lowered - other) <= few)

    def _words(self, line: str) -> Mapping[str, str]:
        """The words of what a line states, each with its form in lower case."""
        label = next((each for each in self._labels if line.startswith(labelled("- ", each))), "")
        stated = f"- {line.removeprefix(labelled('- ', label))}" if label else line
        return {word: word.lower() for word in _WORD.findall(_DAY.sub("", stated))}


def labelled(line: str, label: str) -> str:
    """A line with a label, as in ``- [team] 2023-05-07 Caroline: text``; without one, the line."""
    return f"- [{label}] {line.removeprefix('- ')}" if label else line


def _repeats(words: Mapping[str, str], lacking: Collection[str]) -> bool:
    """Whether few words are new, those that another line lacks in lower case, and none of these changes the meaning."""
    new = [word for word, lower in words.items() if lower in lacking]
    return len(new) <= NEW * len(words) and not any(map(_changes_meaning, new))


def _changes_meaning(word: str) -> bool:
    """Whether one word can change the meaning of a statement: a number, a name, a negation."""
    lower = word.lower()
    return word[0].isupper() or any(map(str.isdigit, word)) or lower in _DENYING or lower.endswith(("n't", "n’t"))


# -- what pays ---------------------------------------------------------------------------------------------------------

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


# -- what holds now ----------------------------------------------------------------------------------------------------

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
    around = {row + step for row, each in enumerate(sentences) if each.held for step in (-1, 0, 1)}
    open_ = around | {0} if around else set(range(len(sentences)))
    while True:
        gains = {
            row: sum(weights[term] * (REPEATED if term in known else 1.0) for term in sorted(each.held))
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
