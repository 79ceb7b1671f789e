"""Link the names in a question to entities, with probabilities. Pure: the candidates are passed in.

The longest full names come first. A single word that is used as an ordinary word more often than as a name stays in
the question, and is only weakly linked to its entity. Then come parts of names, the more probable the more often the
word is used as a name and the fewer entities share it. Linked words are masked: the rest asks for something about them.

Code is named only by words written like code: "run" in a question is hardly the method of that name; "Runner.run" is,
and so is "Runner", capitalised inside of a sentence.

What is written as one name is one name: "Abbey Bridge" is not a bridge with another name, however few bridges there
are, unless the scope uses "abbey" as an ordinary word, or it is a title.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final
from uuid import UUID

import attrs

from graphsearch.model.identity import CASE_SENSITIVE_TYPES
from graphsearch.names import vocabulary
from graphsearch.question.question_names import MAX_WORDS, Anchor, Named, overlapping
from graphsearch.question.type_profile import ORDINARY, Wording
from graphsearch.question.words import Token, name_tokens, name_words_as_written
from graphsearch.text.analyser import STOP_WORDS

HINT: Final = 0.25
"""The probability of an entity whose one-word name is mostly used as an ordinary word."""
WRITTEN: Final = 0.75
"""The least probability of a capitalised word inside of a sentence that is part of a name."""
NUMBER: Final = 3
"""Least digits of a number that can stand for a name that it is part of."""

_start: Final = attrgetter("start")
_IDENTIFIER: Final = re.compile(r"\w[_.]\w|\b_\w|[a-z][A-Z]|\w\(\)|`")

Terms = Callable[[str], Iterable[str]]


@attrs.frozen(kw_only=True)
class Nameable:
    """An entity with its visible names, its own name first."""

    id: UUID
    type: str
    names: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Link:
    """An entity that a question names: its characters [start, end), with a probability in (0, 1].

    ``kind``: the entity's type. ``full``: by a whole name, not by a part of one; ``alias``: only by a name other than
    its own.
    """

    entity_id: UUID
    kind: str
    probability: float
    start: int
    end: int
    full: bool
    alias: bool


@attrs.frozen(kw_only=True)
class Linked:
    """The links of a question, and which of its tokens are part of a name."""

    links: tuple[Link, ...]
    masked: tuple[bool, ...]

    @property
    def probabilities(self) -> Mapping[UUID, float]:
        """The greatest probability of each entity."""
        best: dict[UUID, float] = {}
        for link in self.links:
            best[link.entity_id] = max(best.get(link.entity_id, 0.0), link.probability)
        return best

    @property
    def names_code(self) -> bool:
        """Whether there are links for certain, and all of them are to code."""
        sure = [link.kind in CASE_SENSITIVE_TYPES for link in self.links if link.probability > HINT]
        return bool(sure) and all(sure)


def anchors_of(question: str, links: Iterable[Link]) -> tuple[Anchor, ...]:
    """One anchor for each linked entity, in the order in which the question names them first."""
    found: dict[UUID, Anchor] = {}
    for each in sorted(links, key=lambda link: (link.start, -link.probability, link.entity_id)):
        known = found.get(each.entity_id)
        spans = ((each.start, each.end),) if known is None else (*known.spans, (each.start, each.end))
        if known is None or each.probability > known.confidence:
            known = Anchor(
                entity_id=each.entity_id,
                name=question[each.start : each.end],
                alias=each.alias,
                confidence=each.probability,
                spans=spans,
                whole=known is not None and known.whole,
            )
        found[each.entity_id] = attrs.evolve(known, spans=spans, whole=known.whole or each.full)
    return tuple(found.values())


def unknown_names(written: Sequence[Named], linked: Linked) -> tuple[Named, ...]:
    """Written names that overlap nothing that was linked."""
    return tuple(name for name in written if not overlapping(name.start, name.end, linked.links))


def link(
    text: str,
    question: Sequence[Token],
    nameable: Sequence[Nameable],
    wording: Wording,
    terms: Terms,
    *,
    written: Sequence[tuple[int, int]] = (),
    blocked: Collection[int] = (),
) -> Linked:
    """Link the tokens of a question; those at the positions ``blocked``, such as of a date, name nothing.

    ``written``: the characters [start, end) that are certainly written as one name each.
    """
    linking = _Linking(text, question, _Names.of(nameable), wording, terms, written, set(blocked))
    linking.full_names()
    linking.parts()
    return Linked(links=tuple(linking.links), masked=tuple(linking.masked))


@attrs.frozen
class _Names:
    """The entities by the runs of tokens that are a name, or a part of a name."""

    full: Mapping[tuple[str, ...], Mapping[UUID, bool]]
    """With whether it is an alias."""
    parts: Mapping[tuple[str, ...], frozenset[UUID]]
    kinds: Mapping[UUID, str]
    words: Mapping[UUID, Collection[str]]
    """All tokens of an entity's names."""
    components: Mapping[UUID, frozenset[str]]
    """Of code, the parts between the dots of its names."""
    kindly: frozenset[str]
    """Last words of several names, in lower case: the "team" of "data team" and "search team"."""
    lengths: frozenset[int]
    """The numbers of tokens of whole names."""

    @classmethod
    def of(cls, nameable: Sequence[Nameable]) -> _Names:
        full: dict[tuple[str, ...], dict[UUID, bool]] = {}
        parts: dict[tuple[str, ...], set[UUID]] = {}
        own: dict[UUID, set[str]] = {each.id: set() for each in nameable}
        for each in nameable:
            for place, name in enumerate((*each.names, *_paths(each))):
                words = name_tokens(name)
                own[each.id].update(words)
                for run in {words, tuple("".join(words).split())} - {()}:
                    full.setdefault(run, {}).setdefault(each.id, place > 0)
                for start in range(len(words)):
                    for end in range(start + 1, min(start + MAX_WORDS, len(words)) + 1):
                        parts.setdefault(words[start:end], set()).add(each.id)
        kinds = {each.id: each.type for each in nameable}
        components = {
            each.id: frozenset(part for name in each.names for part in name.split("."))
            for each in nameable
            if each.type in CASE_SENSITIVE_TYPES
        }
        return cls(
            full,
            {run: frozenset(ids) for run, ids in parts.items()},
            kinds,
            own,
            components,
            _kindly(nameable),
            frozenset(map(len, full)),
        )


def _paths(each: Nameable) -> list[str]:
    """Other paths that code is written by: without its first packages, or as the top package offers it."""
    parts = each.names[0].split(".") if each.type in CASE_SENSITIVE_TYPES else []
    shorter = [".".join(parts[start:]) for start in range(1, len(parts) - 1)]
    inside = max(each.names[1:], key=len, default="")
    return [*shorter, f"{parts[0]}.{inside}"] if inside and len(parts) > 1 else shorter


def _kindly(nameable: Sequence[Nameable]) -> frozenset[str]:
    ends: dict[str, set[UUID]] = {}
    for each in nameable:
        for name in each.names:
            words = name_words_as_written(name)
            if len(words) > 1 and words[-1].islower():
                ends.setdefault(words[-1], set()).add(each.id)
    return frozenset(word for word, ids in ends.items() if len(ids) > 1)


class _Linking:
    """The state of linking."""

    def __init__(
        self,
        text: str,
        question: Sequence[Token],
        names: _Names,
        wording: Wording,
        terms: Terms,
        written: Sequence[tuple[int, int]],
        blocked: set[int],
    ) -> None:
        self._text = text
        self._question = question
        self._names = names
        self._wording = wording
        self._terms = terms
        self._taken = [place in blocked for place in range(len(question))]
        self._one_name = [
            range(bisect_left(question, start, key=_start), bisect_left(question, end, key=_start))
            for start, end in written
        ]
        self.masked = [False] * len(question)
        self.links: list[Link] = []

    def full_names(self) -> None:
        """Link whole names, the longest first."""
        for start, end, run in self._runs(self._names.lengths):
            found = self._believable(self._names.full.get(run, {}), start, end, whole=True)
            (first, *others) = run
            if not found or (not others and first in STOP_WORDS and not self._written(start)):
                continue
            sure = bool(others) or self._written(start) or self._used_as_a_name(first)
            sure = sure and not all(self._plain_code(each, start, end) for each in found)
            for entity_id, alias in found.items():
                self._add(entity_id, 1.0 if sure else HINT, start, end, full=True, alias=alias)
            if sure:
                self._take(start, end)

    def parts(self) -> None:
        """Link parts of names in the rest, the longest first."""
        for start, end, run in self._runs(range(1, min(MAX_WORDS, max(self._names.lengths, default=0)) + 1)):
            found = self._believable(dict.fromkeys(self._names.parts.get(run, ()), True), start, end, whole=False)
            if not found or all(word in STOP_WORDS for word in run) or (len(run) == 1 and not _speaks(run[0])):
                continue
            plain = len(run) == 1 and not self._question[start].capitalised
            if plain and (run[0] in self._names.kindly or self._possessed(start)):
                continue
            share = max(self._nameness(word) for word in run)
            if len(run) == 1 and self._written(start):
                share = max(share, WRITTEN)
            if share < ORDINARY:
                continue
            for entity_id in found:
                self._add(entity_id, share / math.sqrt(len(found)), start, end, full=False, alias=False)
            self._take(start, end)

    def _possessed(self, place: int) -> bool:
        """Whether a possessive is before a token: "Sarah's team" asks for a team, and names none."""
        if not place:
            return False
        before = self._question[place - 1]
        if before.text == "s" and self._question[place - 2].text in STOP_WORDS:
            return False  # "who's", "what's"
        between = self._text[before.end - 2 : self._question[place].start] if before.end > 1 else ""
        return "'" in between or "’" in between

    def _believable(self, found: Mapping[UUID, bool], start: int, end: int, *, whole: bool) -> Mapping[UUID, bool]:
        """Entities with whether it is an alias; code only by its own name, or by words written like code."""
        inside = self._of_one_name(start, end, whole=whole)
        written = self._text[self._question[start].start : self._question[end - 1].end].rpartition(".")[2]
        if exact := {each: alias for each, alias in found.items() if written in self._names.components.get(each, ())}:
            found = exact  # "httpx.Client" is the class, not the module httpx._client
        return {
            each: alias
            for each, alias in found.items()
            if (not self._plain_code(each, start, end) or (whole and not alias)) and not self._other(each, inside)
        }

    def _of_one_name(self, start: int, end: int, *, whole: bool) -> Sequence[int]:
        """The positions of a written name of which some tokens are a part; a long whole name counts as one."""
        if whole and end - start > 1:
            return ()
        return next((each for each in self._one_name if start in each and end - 1 in each), ())

    def _other(self, entity_id: UUID, places: Sequence[int]) -> bool:
        """Whether a written name is not this entity's: at least half of its words are not in the entity's names."""
        own = self._names.words[entity_id]
        strange = [place for place in places if self._question[place].text not in own and self._strange(place)]
        return bool(strange) and 2 * len(strange) >= len(places)

    def _strange(self, place: int) -> bool:
        """Whether a token can only be a part of a name: not a title, and not otherwise used in the scope."""
        word = self._question[place].text
        ordinary = word in STOP_WORDS or word in vocabulary.words("titles") or self._wording.telling.get(word, 0) > 0
        return not ordinary and self._wording.type_terms.isdisjoint(self._terms(word))

    def _plain_code(self, entity_id: UUID, start: int, end: int) -> bool:
        """Whether an entity is code, and these words are not written like code."""
        components = self._names.components.get(entity_id)
        if components is None:
            return False
        if end - start == 1 and start and self._question[start].capitalised:
            return self._question[start].written not in components
        first, last = self._question[start].start, self._question[end - 1].end
        return not _IDENTIFIER.search(self._text, max(0, first - 1), last + 2)

    def _runs(self, lengths: Collection[int]) -> Iterable[tuple[int, int, tuple[str, ...]]]:
        """The untaken runs of these numbers of tokens, the longest first."""
        texts = tuple(token.text for token in self._question)
        for length in sorted(lengths, reverse=True):
            for start in range(len(texts) - length + 1):
                if not any(self._taken[start : start + length]):
                    yield start, start + length, texts[start : start + length]

    def _used_as_a_name(self, word: str) -> bool:
        return max(self._wording.usage(word), self._nameness(word)) >= ORDINARY

    def _nameness(self, word: str) -> float:
        return self._wording.nameness(word, self._terms(word))

    def _written(self, place: int) -> bool:
        """Whether a capital indicates a name: not at the start of a sentence, nor if everything is capitalised."""
        if not self._question[place].capitalised or place == 0:
            return False
        return any(token.written.islower() and len(token.written) > NUMBER for token in self._question)

    def _add(self, entity_id: UUID, probability: float, start: int, end: int, *, full: bool, alias: bool) -> None:
        first, last = self._question[start].start, self._question[end - 1].end
        self.links.append(
            Link(
                entity_id=entity_id,
                kind=self._names.kinds[entity_id],
                probability=probability,
                start=first,
                end=last,
                full=full,
                alias=alias,
            )
        )

    def _take(self, start: int, end: int) -> None:
        for place in range(start, end):
            self._taken[place] = self.masked[place] = True


def _speaks(word: str) -> bool:
    """Whether one word may stand for a name that it is part of: not a letter, nor a small number."""
    return len(word) >= NUMBER if word.isdigit() else len(word) > 1
