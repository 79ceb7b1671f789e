"""Choose and lay out lines of observations and triplets under one budget, skipping those that add nothing. Pure."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Final

import attrs

from graphsearch.context.tokens import fits
from graphsearch.model import ElementKind, Triplet
from graphsearch.modes.result import SearchResult
from graphsearch.protocols import TokenCounter
from graphsearch.ranking.recall_result import RecalledMemory, RecallResult
from graphsearch.text.rendering import OBSERVATIONS, TRIPLETS

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


def first_omitted(
    why: Mapping[str, Omitted], found: SearchResult | None, recalled: RecallResult | None
) -> tuple[Omitted, ...]:
    """Of the best triplets and memories those that are not in the block, best first, by the reason of each key."""
    best: Sequence[Triplet | RecalledMemory] = (
        *(found.triplets[:FIRST] if found else ()),
        *(recalled.memories[:FIRST] if recalled else ()),
    )
    return tuple(attrs.evolve(why[key], key=key) for key in dict.fromkeys(map(key_of, best)) if key in why)


ANSWERS: Final = 0.5
"""The part of the budget that answering triplets may use before any observation."""
RELATED: Final = 0.2
"""The part of the budget that other triplets may use beside observations: these say more of what they are about."""
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
    them in any case. Observations take what fits into the rest; other triplets take what is
    left, beside observations at most the part ``related`` of the budget. A section without lines has no heading.
    ``labels`` may precede lines, and are no part of what these state.
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
