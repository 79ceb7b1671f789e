"""The analysis of a question: all that can be read from its text alone: times, names, type of answer, intent, a plan.

Periods are resolved relative to the moment of asking. A question asks about the present, unless it names a period or
asks about the whole past.

Written names are capitalised, quoted, or shaped like code, whether the graph knows them or not. They are found as those
of memories are (`graphsearch.names.spans`), so that a question and a memory agree on what a name is; the tagger, which
reads names that nobody knows in small letters, is not asked. Runs of words are looked up in the graph
(`graphsearch.question.linking`).

Rules for English, a few microseconds. "In which city …" is WHERE, "what company …" WHAT_ORGANISATION, "what is the date
of birth of …" WHEN. An intent weights the channels of recall; the retrieval plan is chosen from a few features, by
a few rules that are tried in order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from functools import cache, cached_property
from itertools import dropwhile, pairwise
from typing import Final, Protocol
from uuid import UUID

import attrs

from graphsearch.model import View
from graphsearch.model import validation as check
from graphsearch.model.identity import CASE_SENSITIVE_TYPES, normalise_name
from graphsearch.names.spans import ONE, Context, find_in_sentence, read_words
from graphsearch.text.analyser import STOP_WORDS, terms
from graphsearch.text.calendar import containing
from graphsearch.text.dates import in_zone, midnight
from graphsearch.text.marked_names import marked_names
from graphsearch.text.time_expressions import Dated, Expression, find_expressions, is_numbering, join_ranges, pattern
from graphsearch.text.trigrams import fold
from graphsearch.text.word_lists import word_lists

# -- times -------------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class AskedPeriod:
    """A time in a question: its characters [start, end), and the period [valid_from, valid_to).

    An open end is None.
    """

    written: str
    start: int
    end: int
    valid_from: datetime | None
    valid_to: datetime | None

    @property
    def years(self) -> tuple[int | None, int | None]:
        """The first and the last year that it touches; an open end is None."""
        first = None if self.valid_from is None else self.valid_from.year
        if self.valid_to is None:
            return first, None
        at_new_year = self.valid_to == self.valid_to.replace(month=1, day=1, hour=0, minute=0, second=0, microsecond=0)
        return first, max(self.valid_to.year - at_new_year, first or 0)


_FIRST_YEAR: Final = 1500
"""Smaller numbers are years only behind such words."""


def periods(question: str, as_of: datetime) -> tuple[AskedPeriod, ...]:
    """The times that a question names, in order, not overlapping, in the time zone of ``as_of``.

    * "2011-2017", "from March to May 2023", "between 2019 and 2021": from the first's start to the other's end.
    * "since 2020", "after May 2021", "before 2015", "until June": open on one side.
    * "last month", "two weeks ago", "yesterday": the whole calendar day, week (from Monday), month or year.
    * "the past three months": up to and including the day of asking.
    * "in March", "on Tuesday": the latest that has begun; "last March", "last spring": the latest that is over.

    Years at the ends of the calendar are no times.
    """
    today = midnight(as_of)
    dates = [
        Dated(each, containing(period.start, period.precision) if each.kind == "ago" else period)
        for each in find_expressions(question)
        if _is_time(question, each) and (period := each.period(today))
    ]
    asked = (_asked(question, first, last, as_of.tzinfo) for first, last in join_ranges(question, dates))
    return tuple(each for each in asked if _in_calendar(each.valid_from) and _in_calendar(each.valid_to))


def _is_time(question: str, each: Expression) -> bool:
    """Whether what is written like a time is one where it stands in a question."""
    match each.kind:
        case "year" if each.written.isdigit() and int(each.written) >= _FIRST_YEAR and not each.placed:
            return not is_numbering(question, each.start)
        case "part":
            return each.dated or (
                each.written[0] in "qh" and (each.lead not in ("", "the") or question[each.start] == "Q")
            )
        case "ahead" | "lasting" | "current":
            return False
    return each.fits() or (each.word == "for" and each.kind in ("month", "holiday", "year"))


def _in_calendar(moment: datetime | None) -> bool:
    """Whether a moment is one in any time zone, with others before it and after it."""
    return moment is None or MINYEAR < moment.year < MAXYEAR


def _asked(question: str, first: Dated, last: Dated | None, zone: tzinfo | None) -> AskedPeriod:
    start, end = first.expression.start, (last or first).expression.end
    valid_from: datetime | None = first.period.start
    valid_to = (last or first).period.end
    match "" if last or first.expression.is_range else first.expression.word:
        case "since" | "starting" | "from":
            valid_to = None
        case "after":
            valid_from, valid_to = valid_to, None
        case "before" | "prior to":
            valid_from, valid_to = None, valid_from
        case "until" | "till" | "through" | "up to" | "by":
            valid_from = None
    return AskedPeriod(
        written=question[start:end],
        start=start,
        end=end,
        valid_from=valid_from and in_zone(valid_from, zone),
        valid_to=valid_to and in_zone(valid_to, zone),
    )


class History(StrEnum):
    """How a question asks for what was."""

    NONE = ""
    ALL = "all"
    """For everything until now: "ever", the present perfect."""
    PAST = "past"
    """For what is over: "previous", "used to"."""
    BEFORE = "before"
    """For what came before something: "before Adyen", "predecessor"."""
    AFTER = "after"
    """For what came after something."""
    DONE = "done"
    """For what was done, whether it lasts or not: "who did Bob meet?"; in no order of time."""
    LIST = "list"
    """For all there are, now or ever: "all of her employers"."""


@attrs.frozen(kw_only=True)
class AskedTime:
    """The time that an answer is for: what held at ``as_of``, or with ``since`` at any moment from then on.

    ``written`` are the words that name it; if there are none, both moments are None: the present.
    """

    as_of: datetime | None = None
    since: datetime | None = None
    written: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    """The characters [start, end) of the question that name a time: they ask for no relation and name no entity."""
    history: History = History.NONE
    pivot: int | None = None
    """Where the name begins that `History.BEFORE` and `History.AFTER` refer to, if it stands behind that word."""

    def view(self, given: View) -> View:
        """A view of the same at the time that is asked about."""
        since = beginning(given.as_of) if self.history else self.since
        if self.as_of is None and since is None:
            return given
        return attrs.evolve(given, as_of=self.as_of or given.as_of, since=since or given.since)


PRESENT: Final = AskedTime()


def asked_time(
    question: str, now: datetime, names: Iterable[tuple[int, int]] = (), *, as_of: datetime | None = None
) -> AskedTime:
    """The time that a question asks about, given the moment at which it is asked.

    With a moment ``as_of`` that the caller asks for, only a history counts.

    A period asks for what held at any moment of it; several periods, for the one that spans them. "Ever" and the
    present perfect ask for everything until now, unless the question has "now" or "today". Characters [start, end) of
    ``names`` are not read as times: "Euro 2024".
    """
    time = _asked_time(question, now, names)
    return PRESENT if as_of is not None and not time.history else time


def _asked_time(question: str, now: datetime, names: Iterable[tuple[int, int]]) -> AskedTime:
    for start, end in names:
        question = question[:start] + "x" * (end - start) + question[end:]
    found = periods(question, now)
    spans = tuple((each.start, each.end) for each in found)
    if not all(map(_is_today, found)):
        first, last = _ends_of_all(found, now)
        written = ", ".join(each.written for each in found)
        return AskedTime(as_of=last, since=first, written=written, spans=spans)
    ever = tuple(pattern("EVER").finditer(question))
    within = [each.span() for each in ever]  # "until now" asks for the past
    present = [each.span() for each in pattern("NOW").finditer(question)]
    if apart := tuple(each for each in present if not any(start < each[1] <= end for start, end in within)):
        return AskedTime(spans=apart)
    if ever:
        return _history(question, ever, beginning(now))
    if perfect := pattern("HAS_DONE").search(question):
        return AskedTime(since=beginning(now), written=perfect[0], history=History.ALL)
    if did := pattern("DID").search(question):
        return AskedTime(since=beginning(now), written=did[0], history=History.DONE)
    return AskedTime(history=History.LIST) if pattern("ALL_OF").search(question) else PRESENT


def _history(question: str, ever: Sequence[re.Match[str]], since: datetime) -> AskedTime:
    """What history some words ask for, and where the name begins that it is seen from."""
    spans = tuple(each.span() for each in ever)
    asked = AskedTime(since=since, written=ever[0][0], spans=spans, history=History(ever[0].lastgroup or "all"))
    for each in ever:
        if each.lastgroup in ("before", "after"):
            small = each[0].casefold() in ("before", "prior to", "after")  # not "predecessor", "took over"
            name = pattern("ARTICLE").match(question, each.end()) if small else None
            kind = "past" if small and name is None else each.lastgroup
            return attrs.evolve(asked, history=History(kind), pivot=name.end() if name else None)
    return asked


def beginning(now: datetime) -> datetime:
    """The start of the whole past: a day after the first moment of the calendar."""
    return datetime.min.replace(tzinfo=now.tzinfo) + timedelta(days=1)


def _is_today(period: AskedPeriod) -> bool:
    """Whether a period is "today" or "tonight", with no word that opens a side of it: the present."""
    opened = period.valid_from is None or period.valid_to is None
    return not opened and pattern("NOW").fullmatch(period.written) is not None


def _ends_of_all(found: tuple[AskedPeriod, ...], now: datetime) -> tuple[datetime | None, datetime]:
    """The first and the last moment of all periods; None if they are one moment."""
    opened = any(each.valid_from is None for each in found)
    earliest = min((each.valid_from for each in found if each.valid_from), default=None)
    first = beginning(now) if opened else earliest
    closing = [each.valid_to - timedelta(microseconds=1) for each in found if each.valid_to]
    last = max(closing) if len(closing) == len(found) else max([now, *closing])
    # What has not ended yet is asked for as far as it is known: until now.
    if first is not None and first <= now < last:
        last = now
    return (None if first is None or first >= last else first), last


# -- names -------------------------------------------------------------------------------------------------------------

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


MAX_SEARCHED: Final = 4_000
"""Characters of a question that are searched for names and times: a longer text is pasted."""


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
    text = question[:MAX_SEARCHED]
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
    words = list(_NAME_WORD.finditer(question))[:MAX_TOKENS]
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


# -- the type of answer ------------------------------------------------------------------------------------------------

MAX_READ: Final = 2_000
"""Characters of a question that are searched for its question word."""
_HERE: Final = "graphsearch.question"


class QuestionType(StrEnum):
    """Types of answers."""

    WHO = "who"
    WHERE = "where"
    WHEN = "when"
    HOW_MANY = "how_many"
    WHY = "why"
    WHAT_ORGANISATION = "what_organisation"
    WHAT_POSITION = "what_position"
    WHAT_EVENT = "what_event"
    WHAT = "what"
    HOW = "how"
    OTHER = "other"
    """No question word: a statement, a request, or a yes-no question."""


@cache
def _types() -> Mapping[str, QuestionType]:
    """The type of answer that each noun asks for."""
    listed = word_lists(_HERE)
    return {noun: type_ for type_ in QuestionType for noun in listed.get(type_, ())}


_ASKED_WORD: Final = re.compile(r"[\w'’-]+")
_AUXILIARY: Final = (
    "is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must|else|exactly"
)
_WH: Final = "who|whom|whose|which|what|when|where|why|how"
_LEAD: Final = re.compile(
    r"\W*+(?:(?:please|and|so|but|also|then|ok|okay|well|hey|hi|now)\W++){0,6}"
    r"(?:(?:can|could|would) you (?:please )?(?:tell|remind|show) (?:me|us) (?:about )?"
    r"|(?:please )?(?:tell|remind|show) (?:me|us) (?:about )?|do (?:you|we) know |(?:i|we) (?:want|need) to know "
    r"|(?:i )?wonder )?(?:(?:in|on|at|to|from|for|by|of|with|since|until|under|during|about|through|against|near)\s+)?"
    rf"(?P<word>{_WH})(?:['’](?:s|re|d|ll|ve))?\b",
    re.IGNORECASE,
)
_SUBORDINATE: Final = re.compile(rf"(?:when|where|how|who)\s+(?!(?:{_AUXILIARY})\b)", re.IGNORECASE)
# Positions of a question word that asks, and does not only join a clause: best first.
_INNER: Final = (
    re.compile(rf"\b(?P<word>{_WH})\s*+(?:\?++\s*+)?$", re.IGNORECASE),
    re.compile(
        r"\b(?:in|on|at|to|from|for|by|of|with|since|until|under|during|about|as)\s+"
        r"(?P<word>what|which|whom|whose|how many)\b"
    ),
    re.compile(r"\b(?P<word>what|how (?:many|much|long|old|often))\b", re.IGNORECASE),
    re.compile(rf"[,:;.]\s+(?:and\s+)?(?P<word>{_WH})\b", re.IGNORECASE),
)
_CAUSE: Final = re.compile(
    r"(?:what|which)(?:['’]s|\s+(?:is|was|were|are))?\s+(?:the\s+)?(?:(?:main|real|root)\s+)?"
    r"(?:causes?|caused|reasons?|led\s+to|made|motivated|prompted)\b",
    re.IGNORECASE,
)
_HOW_MANY: Final = re.compile(
    r"how\s+(?:many|much|old|tall|high|far|long(?!\s+ago)|large|big|deep|wide|heavy|fast|often|frequently|expensive)\b",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(r"how\s+(?:long\s+ago|soon|recently|late|early)\b", re.IGNORECASE)
_WHY: Final = re.compile(r"how\s+come\b", re.IGNORECASE)
_WHO: Final = frozenset({"who", "whom", "whose"})
_PLAIN: Final = frozenset({"where", "when", "why", "how"})


def question_type(question: str) -> QuestionType:
    """The type of answer that a question wants; `QuestionType.OTHER` without a question word."""
    text = question[:MAX_READ].strip()
    start = _asking(text)
    return QuestionType.OTHER if start is None else _type_at(text, start)


def _asking(text: str) -> int | None:
    """The position of the question word that asks."""
    lead = _LEAD.match(text)
    if lead and not _SUBORDINATE.match(text, lead.start("word")):
        return lead.start("word")
    for inner in _INNER:
        if match := inner.search(text, lead.end() if lead else 0):
            return match.start("word")
    return lead.start("word") if lead else None


def _type_at(text: str, start: int) -> QuestionType:
    if _CAUSE.match(text, start) or _WHY.match(text, start):
        return QuestionType.WHY
    if _WHEN.match(text, start):
        return QuestionType.WHEN
    if _HOW_MANY.match(text, start):
        return QuestionType.HOW_MANY
    words = [match[0].casefold() for match in _ASKED_WORD.finditer(text, start, start + 200)]
    word = re.split(r"['’]", words[0])[0]
    if word in _WHO:
        return QuestionType.WHO
    return QuestionType(word) if word in _PLAIN else _type_of_noun(words[1:])


def _type_of_noun(words: list[str]) -> QuestionType:
    """The type that the noun behind "what" or "which" asks for; behind "what is" only a phrase-final noun."""
    copula = bool(words) and words[0] in word_lists(_HERE)["copulas"]
    rest = list(dropwhile(word_lists(_HERE)["articles"].__contains__, words[copula:]))
    found = QuestionType.WHAT
    for before, word in pairwise(("", *rest)):
        noun = _types().get(word) or _types().get(_singular(word))
        if word == "of" and before in word_lists(_HERE)["hollow"]:
            return _type_of_noun(rest[rest.index(word) + 1 :])
        if word in word_lists(_HERE)["ends"]:
            return found
        if found is not QuestionType.WHAT and noun is None:
            return QuestionType.WHAT if copula else found
        found = noun or found
    return found


def _singular(word: str) -> str:
    return word.removesuffix("ies") + "y" if word.endswith("ies") else word.removesuffix("s")


HEALTHY: Final = 0.70
"""The health of a graph below which the graph channel counts for less."""


class Intent(StrEnum):
    """The intent of a question."""

    WHY = "why"
    WHEN = "when"
    WHO = "who"
    HOW = "how"
    WHAT = "what"
    """None of the others."""


@attrs.frozen
class ChannelWeights:
    """The weights of the recall channels, each ≥ 0; 0 turns a channel off."""

    semantic: float
    lexical: float
    graph: float


_WEIGHTS: Final[Mapping[Intent, ChannelWeights]] = {
    Intent.WHY: ChannelWeights(1.0, 0.8, 1.5),
    Intent.WHEN: ChannelWeights(0.8, 1.2, 0.8),
    Intent.WHO: ChannelWeights(0.8, 0.8, 1.8),
    Intent.HOW: ChannelWeights(1.2, 1.0, 0.8),
    Intent.WHAT: ChannelWeights(1.0, 1.0, 1.0),
}


def intent_of(type_: QuestionType) -> Intent:
    """The intent of a question of some type; "how many" is factual, not procedural."""
    return Intent(type_.value) if type_.value in _WEIGHTS else Intent.WHAT


def channel_weights(intent: Intent, *, deployment: float = 1.0, health: float = 1.0) -> ChannelWeights:
    """The channel weights of an intent; the graph's × ``deployment``, × ``health`` / 0.70 if health is below 0.70.

    ``deployment`` is any number ≥ 0 (relational workloads 2.0, informational ones 0.5, 0 is off), ``health`` that of
    the graph, in [0, 1]. Raises `InvalidInputError`.
    """
    check.refuse("channel weights", check.number("deployment", deployment, 0.0), check.unit("health", health))
    weights = _WEIGHTS[intent]
    return attrs.evolve(weights, graph=weights.graph * deployment * min(1.0, health / HEALTHY))


CERTAIN: Final = 0.80
"""The confidence from which on a name counts as linked to its entity."""
FEW_TERMS: Final = 2
"""A question with fewer terms that names nothing is too short to be specific."""


class Plan(StrEnum):
    """Retrieval plans."""

    ENTITY_CENTRIC = "entity_centric"
    """Every name in the question is linked to an entity, and there is at least one: retrieve around these."""
    TEMPORAL = "temporal"
    """The question names a time, or asks for one."""
    PRECISION = "precision"
    """The question looks for one thing, by its exact words."""
    EXPLORATORY = "exploratory"
    """Broad: an overview, a reason, a procedure."""
    BALANCED = "balanced"
    """None of these."""


_POINTED: Final = frozenset(QuestionType) - {
    *(QuestionType.WHY, QuestionType.HOW, QuestionType.WHAT, QuestionType.OTHER),
}

_OPEN: Final = frozenset({QuestionType.WHY, QuestionType.HOW})


@attrs.frozen(kw_only=True)
class Features:
    """The features that the choice of a plan is based on.

    * ``linked``: number of entities that the question names; ``least_confidence`` of these links, 0 without any.
    * ``unlinked``: written names without a linked entity.
    * ``exact``: names in quotes or shaped like code.
    * ``dated``: a period is named. ``temporal``: a time is requested, or implied by a word such as "latest".
    * ``broad``: a word such as "overview" asks for more than one thing.
    * ``terms``: number of distinct terms of the question.
    """

    question_type: QuestionType
    linked: int
    least_confidence: float
    unlinked: tuple[str, ...]
    exact: int
    dated: bool
    temporal: bool
    broad: bool
    terms: int


def linked(name: WrittenName, anchors: Sequence[Anchor]) -> bool:
    """Whether every significant word of a name is part of the span of some anchor."""
    spans = [span for anchor in anchors for span in anchor.spans]
    left = "".join(
        " " if any(start <= at < end for start, end in spans) else character
        for at, character in enumerate(name.text, name.start)
    )
    return left != name.text and not terms(left)


def plan_of(known: Features) -> Plan:
    """The first plan whose rule holds."""
    if known.linked and not known.unlinked and known.least_confidence >= CERTAIN:
        return Plan.ENTITY_CENTRIC
    if known.dated or known.temporal:
        return Plan.TEMPORAL
    if known.broad:
        return Plan.EXPLORATORY
    named = known.linked or known.unlinked
    if known.exact or (named and known.question_type in _POINTED):
        return Plan.PRECISION
    if not named and (known.question_type in _OPEN or known.terms <= FEW_TERMS):
        return Plan.EXPLORATORY
    return Plan.BALANCED


@attrs.frozen(kw_only=True)
class Analysis:
    """The analysis of a question.

    * ``terms``: its distinct terms in order. ``names``: its written names, linked or not.
    * ``periods``: the times it names, each with its span and its two ends.
    * ``anchors``: the entities that it names, as passed in.
    * ``plan``: the retrieval plan, and ``features``, from which it was chosen.
    """

    question: str
    terms: tuple[str, ...]
    names: tuple[WrittenName, ...]
    periods: tuple[AskedPeriod, ...]
    question_type: QuestionType
    intent: Intent
    anchors: tuple[Anchor, ...]
    features: Features
    plan: Plan

    @property
    def proper_nouns(self) -> tuple[str, ...]:
        """The capitalised names, in order; the first word of a sentence only if it is not a common word."""
        return tuple(name.text for name in self.names if name.kind is NameKind.PROPER_NOUN)

    @property
    def years(self) -> tuple[int, ...]:
        """The first and last years of the periods, distinct, in order."""
        return tuple(sorted({year for period in self.periods for year in period.years if year is not None}))


def analyse(question: str, *, as_of: datetime, anchors: Iterable[Anchor] = ()) -> Analysis:
    """Analyse a question, relative to a moment: "last week" counts from there.

    ``anchors`` are the entities that it names, such as those of `SearchResult.anchors`; without them no plan is
    entity-centric. Accepts any text. Raises `InvalidInputError` for a question that is not text, or a time
    without a time zone.
    """
    check.refuse(
        "question",
        check.text("question", question, empty=True, longest=check.LONGEST_QUESTION),
        check.instant("as_of", as_of),
    )
    kind, names, anchors = question_type(question), named(question), tuple(anchors)
    found = periods(question[:MAX_SEARCHED], as_of)
    question_terms = tuple(dict.fromkeys(terms(question)))
    known = Features(
        question_type=kind,
        linked=len(anchors),
        least_confidence=min((anchor.confidence for anchor in anchors), default=0.0),
        unlinked=tuple(name.text for name in names if not (name.tentative or linked(name, anchors))),
        exact=sum(name.kind is not NameKind.PROPER_NOUN for name in names),
        dated=bool(found),
        temporal=kind is QuestionType.WHEN or not word_lists(_HERE)["temporal"].isdisjoint(question_terms),
        broad=not word_lists(_HERE)["broad"].isdisjoint(question_terms),
        terms=len(question_terms),
    )
    return Analysis(
        question=question,
        terms=question_terms,
        names=names,
        periods=found,
        question_type=kind,
        intent=intent_of(kind),
        anchors=anchors,
        features=known,
        plan=plan_of(known),
    )
