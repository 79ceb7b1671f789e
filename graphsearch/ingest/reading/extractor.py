"""The reader of texts, which needs no model: names of all memories of a call together, then sentence by sentence."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from copy import copy
from typing import Final, Self

import attrs

from graphsearch._support.concurrency import in_slices
from graphsearch.ingest.extract.context import headings_of, speaker_of, subject_of
from graphsearch.ingest.frames.table import read_line, text_forms
from graphsearch.ingest.reading.assembling import Assembly, ReadSentence
from graphsearch.ingest.reading.names import PARENTHESIS, key, name_in_slices
from graphsearch.ingest.reading.references import Context, Named
from graphsearch.ingest.reading.statements import LEAST, Stated, read_sentence
from graphsearch.ingest.reading.users import introduced_users, of_user, with_user
from graphsearch.model import Memory, Span
from graphsearch.model import validation as check
from graphsearch.model.extracted import ExtractedMemory, KnownName
from graphsearch.names.known_names import KnownNames, name_words
from graphsearch.names.lexicon import FUNCTION, ORDINARY, flags
from graphsearch.names.spans import Mention, Read
from graphsearch.names.word_marks import own_kind
from graphsearch.text.dates import Dates, DateSpan, NaturalDates, repeated_dates

NAME: Final = "frames/1"
_SURE_KIND: Final = 0.7
_BACK_TO_DATE: Final = 300
"""Characters before a sentence in which the date is that "that day" means."""


@attrs.define
class _Turn:
    """A memory with its names, and what holds before its first sentence."""

    memory: Memory
    read: Read
    speaker: str
    follows: _Turn | None = None
    """The memory before it in its session."""
    sentences: list[ReadSentence] = attrs.field(factory=list)
    recent: list[list[Named]] = attrs.field(factory=list)
    """The names of each sentence."""


_LONGEST_TITLE: Final = 5
"""Most words of the subject of a document that its text does not name."""


@attrs.frozen
class RelationPattern:
    """A line of the table of relations, which says by which verbs or nouns texts state a relation type.

    ``line`` is "type | source > target | phase | entry; entry", as in "mentors | p > p | holds | mentor obj".
    Kinds of the ends: p person, o organisation, g group, l place, t thing, v value, * any; one in brackets must be
    known. Phases: holds, opens, closes, done. An entry is a verb with what its object follows: "obj", or prepositions
    joined by "/"; after "^" the object is the source. For nouns the phase is "is" ("boss": the source is the boss of
    the target) or "has" (the target is the boss of the source), and an entry is the noun.

    Raises `InvalidInputError` if it is no such line.
    """

    line: str

    def __attrs_post_init__(self) -> None:
        read_line(self.line)


class TextExtractor:
    """Extracts names, relations and dates from English text, in any case, without a model; deterministic.

    ``patterns`` are relations that it reads beside those of its own table, and before them. ``dates`` finds dates:
    `NaturalDates` by default; `IsoDates` reads ISO dates alone. ``known`` are names found in any case, in addition to a
    vocabulary of tools (`graphsearch.names.vocabulary.known_tools`) and to what the scope knows. ``user`` is the person
    whom memories of the speaker "user" or "human" are by, and who is called "the user" in those without a speaker.
    ``min_confidence``: what is less sure is not stated; by default what is right in fewer than seven of ten. Raises
    `InvalidInputError` if the user is no text.
    """

    def __init__(
        self,
        patterns: Iterable[RelationPattern] = (),
        *,
        dates: Dates | None = None,
        name: str = NAME,
        known: Iterable[KnownName] = (),
        user: str = "",
        min_confidence: float = LEAST,
    ) -> None:
        check.refuse("extractor", check.text("user", user, empty=True))
        self._lines = tuple(each.line for each in patterns)
        self._dates = NaturalDates() if dates is None else dates
        self._added = tuple(known)
        self._told: tuple[KnownName, ...] = ()
        self._user = " ".join(user.split())
        self._name = name
        self._least = min_confidence

    @property
    def name(self) -> str:
        """The name given, by default "frames/1", and a digest of the options that change what is read, if any.

        Texts are read again when it changes.
        """
        options = (self._lines, self._added, self._user, self._least if self._least != LEAST else 0)
        digest = f"+{hashlib.sha256(repr(options).encode()).hexdigest()[:12]}" if any(options) else ""
        return f"{self._name}{digest}"

    def knowing(self, names: Sequence[KnownName]) -> Self:
        """The same extractor, which finds some names of the scope in any case as well."""
        other = copy(self)
        other._told = tuple(names)  # noqa: SLF001 - one of its own class
        return other

    async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
        """The content of each memory, in order; runs in threads, in slices between which it can be cancelled."""
        return await in_slices(self._extract(memories))

    def _extract(self, memories: Sequence[Memory]) -> Generator[None, None, list[ExtractedMemory]]:
        users = {} if self._user else introduced_users(memories)
        memories = [of_user(memory, self._user or users.get(memory.session_id, "")) for memory in memories]
        known = KnownNames((*self._added, *self._told))
        of_scope = frozenset(key(each.name) for each in self._told if each.type)
        turns = yield from self._turns(memories, known)
        firms: dict[str, Named] = {}
        for turn in turns:
            yield from self._read(turn, firms, known)
        kinds = _voted(one for turn in turns for each in turn.sentences for one in each.stated)
        for turn in turns:
            if _take_kinds(turn, kinds):
                yield from self._read(turn, firms, known)
        found = []
        for turn in turns:
            found.append(Assembly(turn.memory, turn.read, turn.sentences, known, of_scope).build())
            yield
        return found

    def _turns(self, memories: Sequence[Memory], known: KnownNames) -> Generator[None, None, list[_Turn]]:
        """Find the names of all memories, which agree with each other."""
        texts = [memory.text for memory in memories]
        speakers = [speaker_of(memory) for memory in memories]
        titles = ["" if memory.speaker else subject_of(memory) for memory in memories]
        reads = yield from name_in_slices(texts, speakers, titles, known)
        turns: list[_Turn] = []
        for memory, read, speaker in zip(memories, reads, speakers, strict=True):
            before = turns[-1] if turns and memory.session_id == turns[-1].memory.session_id != "" else None
            meant = with_user(read, self._user) if self._user and not speaker else read
            inside = [each for some in _by_sentence(meant) for each in some]  # none in what machines wrote
            turns.append(_Turn(memory, meant._replace(mentions=inside), speaker, before))
        return turns

    def _read(self, turn: _Turn, firms: dict[str, Named], known: KnownNames) -> Generator[None, None, None]:
        """Read the sentences of a memory, or those again of which the kinds of names have changed.

        ``firms`` are the employers of those who speak, as far as they were read.
        """
        speaker, follows, at = turn.speaker, turn.follows, turn.memory.occurred_at
        title, dates = _title(turn.memory, turn.read, known), _DatesOf(self._dates, turn.memory)
        names = _by_sentence(turn.read)
        before: Sequence[ReadSentence | None] = turn.sentences or [None] * len(names)
        turn.sentences, turn.recent = [], []
        for (first, stop), mentions, earlier in zip(turn.read.sentences, names, before, strict=True):
            sentence = earlier
            if sentence is None or mentions != sentence.mentions:
                recent = (*(follows.recent if follows else ()), *turn.recent)
                context = Context(speaker, firms.get(speaker), title, recent)
                read = turn.read._replace(mentions=mentions)
                stated = read_sentence(read, first, stop, context, dates.find, at, text_forms(self._lines), self._least)
                sentence = ReadSentence(_span(turn.read, first, stop), mentions, stated)
                yield
            for each in sentence.stated:
                if each.relation == "works_at" and each.source.name == speaker and each.until is None:
                    firms[speaker] = each.target._replace(sure=min(each.confidence, each.target.sure), start=-1)
            turn.sentences.append(sentence)
            turn.recent.append([Named(each.name, each.kind, hard=each.hard) for each in mentions])


class _DatesOf:
    """The dates of a memory, found where a sentence asks for them."""

    def __init__(self, dates: Dates, memory: Memory) -> None:
        self._dates, self._text, self._at = dates, memory.text, memory.occurred_at

    def find(self, start: int, end: int) -> list[DateSpan]:
        """The dates between two places, "that day" among them, which is the last date before."""
        text = self._text[start:end]
        found = [*self._dates.find(text, self._at)]
        if "that" in text or "same" in text:
            earlier = found or [*self._dates.find(self._text[max(0, start - _BACK_TO_DATE) : start], self._at)]
            repeated = repeated_dates(text, earlier[0 if found else -1]) if earlier else ()
            found += [each for each in repeated if all(each.start >= one.end or one.start >= each.end for one in found)]
        moved = [attrs.evolve(each, start=each.start + start, end=each.end + start) for each in found]
        return sorted(moved, key=lambda each: each.start)


def _span(read: Read, first: int, stop: int) -> Span:
    return Span(start=read.words[first].start, end=read.words[stop - 1].end)


def _by_sentence(read: Read) -> list[list[Mention]]:
    """The names of each sentence."""
    left, found = deque(read.mentions), []
    for first, stop in read.sentences:
        while left and left[0].first < first:
            left.popleft()
        inside = []
        while left and left[0].first < stop:
            inside.append(left.popleft())
        found.append(inside)
    return found


def _title(memory: Memory, read: Read, known: KnownNames) -> Named | None:
    """The subject of a document; it is a person if it is named as one, or called "he" or "she" first.

    Of headings it is the nearest that is a name: "Architecture" or "Open questions" heads a text, and is none.
    """
    title = "" if memory.speaker else subject_of(memory)
    if title and (headings := headings_of(memory)):
        title = next((each for each in reversed(headings) if _is_name(each, known)), "")
    if not title:
        return None
    bare = PARENTHESIS.sub("", title)
    named = next((each.kind for each in read.mentions if key(each.name) == key(bare)), None)
    if named is None and len(bare.split()) > _LONGEST_TITLE:  # a headline
        return None
    kind = own_kind(bare) if named is None else named
    first = next((low for low in read.lows if low in ("he", "she", "his", "her", "it", "its")), "")
    if first.startswith("it"):
        kind = "" if kind == "person" else kind
    elif first and not kind and not any(flags(word) & (ORDINARY | FUNCTION) for word in bare.split()):
        kind = "person"
    return Named(title, kind, 1.0, -1, kind == "person")


def _is_name(heading: str, known: KnownNames) -> bool:
    """Whether a heading is a known name of a known type, or has a word that is not an ordinary one."""
    found = known.full_name(heading)
    words = [word for word in name_words(heading) if any(letter.isalpha() for letter in word)]
    ordinary = all(flags(word) & (ORDINARY | FUNCTION) for word in words)
    return not ordinary or bool(found and found.type and not found.plain)


def _voted(stated: Iterable[Stated]) -> Mapping[str, str]:
    """The kinds that statements show, where the words of a name show none: what somebody built is no person."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for each in stated:
        for named in (each.source, each.target):
            if named.kind not in ("", "value", "status") and not named.hard and each.confidence >= _SURE_KIND:
                votes[key(named.name)][named.kind] += 1
    return {form: count.most_common(1)[0][0] for form, count in votes.items()}


def _take_kinds(turn: _Turn, kinds: Mapping[str, str]) -> bool:
    """Give the names of a memory the kinds that were voted for; tell whether any has changed."""
    mentions = [
        each if each.hard or (kind := kinds.get(key(each.name), each.kind)) == each.kind else each._replace(kind=kind)
        for each in turn.read.mentions
    ]
    if mentions == turn.read.mentions:
        return False
    turn.read = turn.read._replace(mentions=mentions)
    return True
