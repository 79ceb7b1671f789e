"""Names in a question: those that are written as names, and runs of words that may be names; words as compared.

Written names are capitalised, quoted, or shaped like code, whether the graph knows them or not. They are found as those
of memories are (`graphsearch.names.spans`), so that a question and a memory agree on what a name is; the tagger, which
reads names that nobody knows in small letters, is not asked. Runs of words are looked up in the graph
(`graphsearch.question`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Final, Protocol
from uuid import UUID

import attrs

from graphsearch.model.identity import CASE_SENSITIVE_TYPES, normalise_name
from graphsearch.names.spans import ONE, Context, find_in_sentence, read_words
from graphsearch.question.asked_time import AskedTime, asked_time
from graphsearch.text.analyser import STOP_WORDS
from graphsearch.text.marked_names import marked_names
from graphsearch.text.trigrams import fold

MAX_TOKENS: Final = 256
"""Most words of a question that are read: a longer text is pasted."""

_WORD: Final = re.compile(r"[^\W_]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@attrs.frozen
class Token:
    """Characters [start, end) of a text. ``text`` is the folded word, ``written`` the word as written."""

    text: str
    written: str
    start: int
    end: int

    @property
    def capitalised(self) -> bool:
        """Whether it starts with a capital letter."""
        return self.written[0].isupper()


def tokens(text: str) -> tuple[Token, ...]:
    """The words of a text in order, at most `MAX_TOKENS`."""
    found: list[Token] = []
    for match in _WORD.finditer(text):
        if len(found) == MAX_TOKENS:
            break
        found.append(Token(fold(match[0]), match[0], match.start(), match.end()))
    return tuple(found)


def name_tokens(name: str) -> tuple[str, ...]:
    """The folded words of a name; camelCase is one word, as questions write it."""
    return tuple(fold(word) for word in _WORD.findall(name))


def spread(identifier: str) -> str:
    """An identifier as words: "reports_to" becomes "reports to", "servedBy" becomes "served by"."""
    return _CAMEL.sub(" ", identifier).replace("_", " ").lower()


def relation_line(source: str, type_: str, target: str, fact: str) -> str:
    """A relation as one text to compare with questions: both names, the type in words, and the fact."""
    return f"{source} {spread(type_)} {target} {fact}"


MAX_WORDS: Final = 8
"""Most words of a part of a name, and of a name that is looked up."""

Words = tuple[str, ...]


@attrs.frozen(kw_only=True)
class Nameable:
    """An entity with its visible names, its own name first; and the runs of folded words that name it, computed once.

    * ``whole``: those of its names, with whether that is an alias. ``parts``: all runs inside of a name.
    * ``words``: all words. ``ends``: the last words of names of several, if written in small letters.
    * ``components``: of code, the parts between the dots of its names.
    """

    id: UUID
    type: str
    names: tuple[str, ...]

    @cached_property
    def _tokens(self) -> tuple[Words, ...]:
        return tuple(map(name_tokens, (*self.names, *self._paths())))

    @cached_property
    def whole(self) -> Mapping[Words, bool]:
        """The runs of its whole names."""
        found: dict[Words, bool] = {}
        for place, own in enumerate(self._tokens):
            if own:
                found.setdefault(own, place > 0)
                found.setdefault(("".join(own),), place > 0)
        return found

    @cached_property
    def parts(self) -> frozenset[Words]:
        """The runs inside of its names."""
        return frozenset(
            words[start:end]
            for words in self._tokens
            for start in range(len(words))
            for end in range(start + 1, min(start + MAX_WORDS, len(words)) + 1)
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its names."""
        return frozenset(word for words in self._tokens for word in words)

    @cached_property
    def ends(self) -> frozenset[str]:
        """The last words of its names."""
        written = (_WORD.findall(name) for name in self.names)
        return frozenset(words[-1] for words in written if len(words) > 1 and words[-1].islower())

    @cached_property
    def components(self) -> frozenset[str]:
        """The parts of its paths."""
        if self.type not in CASE_SENSITIVE_TYPES:
            return frozenset()
        return frozenset(part for name in self.names for part in name.split("."))

    def _paths(self) -> list[str]:
        """Other paths that code is written by: without its first packages, or as the top package offers it."""
        parts = self.names[0].split(".") if self.type in CASE_SENSITIVE_TYPES else []
        shorter = [".".join(parts[start:]) for start in range(1, len(parts) - 1)]
        inside = max(self.names[1:], key=len, default="")
        return [*shorter, f"{parts[0]}.{inside}"] if inside and len(parts) > 1 else shorter


MAX_READ: Final = 4_000
"""Characters of a question that are searched for names: a longer text is pasted."""


class NameKind(StrEnum):
    """The form of a written name."""

    PROPER_NOUN = "proper_noun"
    QUOTED = "quoted"
    CODE = "code"
    """In backticks, or shaped like code, a path or an address."""
    HANDLE = "handle"


@attrs.frozen(kw_only=True)
class WrittenName:
    """Characters [start, end) of a question that are written as a name.

    ``tentative``: a single word that begins a sentence, which would be capitalised anyway.
    """

    text: str
    start: int
    end: int
    kind: NameKind = NameKind.PROPER_NOUN
    tentative: bool = False


_QUOTED: Final = re.compile(r"\"([^\"\n]{2,100})\"|“([^”\n]{2,100})”|«([^»\n]{2,100})»")
# snake_case, dotted.names of more than initials, camelCase, and calls().
_CODE: Final = re.compile(
    r"(?<![\w.@/`])((?:[A-Za-z]\w*_\w+|_\w+|[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+|[a-z]\w*[a-z][A-Z]\w*|[A-Za-z_]\w*(?=\(\)))"
    r"(?:\.[A-Za-z_]\w*)*)(?!\w)"
)


def named(question: str) -> tuple[WrittenName, ...]:
    """The written names of a question in order, not overlapping: whole quoted titles, then code, then proper nouns."""
    text = question[:MAX_READ]
    spans = [(*match.span(match.lastindex or 0), NameKind.QUOTED) for match in _QUOTED.finditer(text)]
    marks = [mark for mark in marked_names(text, 0, len(text)) if mark.named]
    spans += [(each.start, each.end, NameKind.HANDLE if each.pattern == "handle" else NameKind.CODE) for each in marks]
    spans += [(*match.span(1), NameKind.CODE) for match in _CODE.finditer(text)]
    found: list[WrittenName] = []
    for start, end, kind in spans:
        if not overlapping(start, end, found):
            found.append(WrittenName(text=text[start:end], start=start, end=end, kind=kind))
    return tuple(sorted([*found, *_proper_nouns(text, found)], key=lambda each: each.start))


def _proper_nouns(text: str, taken: Sequence[WrittenName]) -> Iterator[WrittenName]:
    read = read_words(text)
    places = {place for place, word in enumerate(read.words) if overlapping(word.start, word.end, taken)}
    for first, stop in read.sentences:
        for found in find_in_sentence(read, first, stop, (), Context(places, tagged=False)):
            tentative = found.first == first and found.end == first + 1 and found.sure <= ONE
            start, end = read.words[found.first].start, read.words[found.end - 1].end
            if not overlapping(start, end, taken):
                yield WrittenName(text=text[start:end], start=start, end=end, tentative=tentative)


class Part(Protocol):
    """A part of a question: its characters [start, end)."""

    @property
    def start(self) -> int: ...  # noqa: D102
    @property
    def end(self) -> int: ...  # noqa: D102


def overlapping(start: int, end: int, others: Iterable[Part]) -> bool:
    """Whether the characters [start, end) of a question overlap any of some parts of it."""
    return any(start < other.end and other.start < end for other in others)


MAX_QUESTION_WORDS: Final = 256

_NAME_WORD: Final = re.compile(r"[@#]?[^\W](?:[\w.\-/:@&+]*[\w+#])?")
_FINAL: Final = frozenset("!?.")
"""Characters that a name may end with: "Oh-Baby!", "Jr."."""


@attrs.frozen(kw_only=True)
class WordRun:
    """A run of the question's words: its characters [start, end), and as a name is compared."""

    name: str
    start: int
    end: int


def runs(question: str) -> list[WordRun]:
    """Every run of up to eight words that could be a name, longest first, then from left to right."""
    words = list(_NAME_WORD.finditer(question))[:MAX_QUESTION_WORDS]
    found = []
    for length in range(min(MAX_WORDS, len(words)), 0, -1):
        for first, last in zip(words, words[length - 1 :], strict=False):
            for end in _ends(question, first.start(), last.end()):
                name = normalise_name(question[first.start() : end])
                if length > 1 or name not in STOP_WORDS:
                    found.append(WordRun(name=name, start=first.start(), end=end))
    return found


def _ends(question: str, start: int, end: int) -> list[int]:
    """The possible ends of a run, the longest first: with the mark behind it, a part of some names, or without."""
    mark = question[end : end + 1]
    closed = mark == ")" and question.count("(", start, end) > question.count(")", start, end)
    return [end + 1, end] if closed or (mark and mark in _FINAL) else [end]


_SOME_MOMENT: Final = datetime(2000, 1, 1, tzinfo=UTC)


@attrs.frozen
class QuestionText:
    """The text of a question, with what is read of it alone, once.

    ``written``: the spans that are certainly written as one name each.
    """

    text: str

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Its words, at most `MAX_TOKENS`."""
        return tokens(self.text)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Its folded words."""
        return tuple(token.text for token in self.tokens)

    @cached_property
    def written(self) -> tuple[WrittenName, ...]:
        """What is surely written as a name."""
        return tuple(name for name in named(self.text) if not name.tentative and name.kind is not NameKind.QUOTED)

    @cached_property
    def time(self) -> AskedTime:
        """The time that it asks about, if asked at some moment: `PRESENT` only if it asks about no other whenever."""
        return asked_time(self.text, _SOME_MOMENT)

    @cached_property
    def runs(self) -> list[WordRun]:
        """Its runs of words that could be names."""
        return runs(self.text)

    def places(self, spans: Iterable[tuple[int, int]]) -> frozenset[int]:
        """The places of the tokens that overlap some characters [start, end)."""
        return frozenset(
            place
            for start, end in spans
            for place, token in enumerate(self.tokens)
            if start < token.end and token.start < end
        )

    def without(self, places: Collection[int]) -> str:
        """The folded words at other places."""
        return " ".join(text for place, text in enumerate(self.texts) if place not in places)


@attrs.frozen(kw_only=True)
class Anchor:
    """An entity that the question names.

    ``name`` is its name as written in the question, ``alias`` whether that matches an alias only, ``confidence`` the
    probability of the link. ``spans`` are the characters [start, end) of the question where it is named, in order.
    ``whole``: whether it is named by a whole name anywhere, not only by parts of one.
    """

    entity_id: UUID
    name: str
    alias: bool
    confidence: float
    spans: tuple[tuple[int, int], ...]
    whole: bool = True
