"""From sentences as they are read to the content of one memory: its surfaces and statements."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator, Sequence
from itertools import combinations
from typing import Final

import attrs

from graphsearch.ingest.extract.context import context_surfaces
from graphsearch.ingest.reading.names import key
from graphsearch.ingest.reading.references import Named
from graphsearch.ingest.reading.statements import Stated
from graphsearch.model import EdgeKind, Memory, Span
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, Statement, fact_in
from graphsearch.names.known_names import KnownNames
from graphsearch.names.spans import Mention, Read
from graphsearch.names.word_marks import own_kind

CO_OCCURS: Final = "co_occurs"
CO_OCCURRENCE: Final = 0.55
MAX_TOGETHER: Final = 8
"""Most names of a sentence that co-occur, which makes at most 28 pairs."""
_TYPES: Final = {"group": "organisation", "thing": "", "status": "value"}
"""The entity types of kinds that have another name, or are no type by themselves."""
_RELATED: Final = 0.7
_KNOWN: Final = 0.85


@attrs.define
class ReadSentence:
    """A sentence with its names, and what it states."""

    span: Span
    mentions: Sequence[Mention]
    stated: Sequence[Stated] = ()


class Assembly:
    """Builds the content of one memory.

    ``known`` are names known before, ``of_scope`` the keys of those that the scope knows: of these other memories tell
    the types, which are no evidence of this one.
    """

    def __init__(
        self,
        memory: Memory,
        read: Read,
        sentences: Sequence[ReadSentence],
        known: KnownNames,
        of_scope: Container[str] = (),
    ) -> None:
        self._memory, self._read, self._sentences = memory, read, sentences
        self._known, self._of_scope = known, of_scope
        self._same = {frozenset(map(key, pair)) for pair in read.same}
        self._types: dict[str, str] = {}
        self._surfaces: list[ExtractedName] = []
        self._first: dict[str, ExtractedName] = {}
        self._at: dict[int, ExtractedName] = {}

    def build(self) -> ExtractedMemory:
        """Build it."""
        for end in (end for each in self._sentences for one in each.stated for end in (one.source, one.target)):
            if end.kind:
                self._types.setdefault(key(end.name), _TYPES.get(end.kind, end.kind))
        for surface in context_surfaces(self._memory):
            self._add(surface)
        for mention in self._read.mentions:
            if not mention.faint or key(mention.name) in self._types:
                self._mention(mention)
        for mention in self._read.aside:
            self._mention(mention._replace(kind=""))
        stated = self._stated()
        synonyms = tuple(self._synonyms())
        return ExtractedMemory(
            memory_id=self._memory.id,
            surfaces=tuple(self._surfaces),
            statements=(*stated, *self._together(stated)),
            same=(*self._read.same, *synonyms),
        )

    # -- names --------------------------------------------------------------------------------------------------------

    def _mention(self, mention: Mention) -> None:
        words, text = self._read.words, self._read.text
        span = Span(start=words[mention.first].start, end=words[mention.end - 1].end)
        inside = text.startswith(mention.name, span.start)
        sure = min(0.95, 0.6 + mention.sure / 20)
        type_ = self._type(mention.name, mention.kind, mention.type)
        name = " ".join(mention.name.split())
        surface = ExtractedName(name=name, type=type_, span=span if inside else None, confidence=sure, pattern="tagger")
        self._at[span.start] = self._add(surface)

    def _type(self, name: str, kind: str, known: str = "") -> str:
        form = key(name)
        if form in self._of_scope:  # other memories tell its type; this one only what the name itself shows
            return "person" if (known or kind) == "person" == own_kind(name) else ""
        return known or self._types.get(form) or _TYPES.get(kind, kind)

    def _add(self, surface: ExtractedName) -> ExtractedName:
        self._first.setdefault(key(surface.name), surface)
        self._surfaces.append(surface)
        return surface

    def _end(self, named: Named) -> ExtractedName:
        """The surface of an end of a statement: that of its place, else the first of its name, else a new one."""
        found = self._at.get(named.start) or self._first.get(key(named.name))
        if found is None:
            name, type_ = " ".join(named.name.split()), self._type(named.name, named.kind)
            inside = named.start >= 0 and self._read.text.startswith(named.name, named.start)
            span = Span(start=named.start, end=named.start + len(named.name)) if inside else None
            found = ExtractedName(name=name, type=type_, span=span, confidence=_RELATED, pattern="frame")
            self._add(found)
        return found

    def _synonyms(self) -> Iterator[tuple[str, str]]:
        """Other spellings of known names, with these; the known names become surfaces."""
        for written in dict.fromkeys(each.name for each in self._read.mentions if each.type):
            full = self._known.full_name(written)
            if full and key(full.name) != key(written):
                yield written, full.name
                whole = ExtractedName(name=full.name, type=full.type, span=None, confidence=_KNOWN, pattern="known")
                self._add(whole)

    # -- statements ---------------------------------------------------------------------------------------------------

    def _stated(self) -> list[Statement]:
        """The statements of its sentences, each once."""
        distinct: dict[tuple[object, ...], Statement] = {}
        for each in (one for some in self._sentences for one in self._statements(some.stated, some.span)):
            period = each.valid_from, each.valid_to
            distinct.setdefault((key(each.source.name), each.type, key(each.target.name), *period), each)
        return [*distinct.values()]

    def _statements(self, stated: Sequence[Stated], span: Span) -> Iterator[Statement]:
        """What a sentence states, but for names that are declared to be one."""
        for each in stated:
            source, target = self._end(each.source), self._end(each.target)
            apart = frozenset((key(source.name), key(target.name))) not in self._same
            if apart and key(source.name) != key(target.name):
                yield Statement(
                    source=source,
                    type=each.relation,
                    target=target,
                    confidence=each.confidence,
                    kind=EdgeKind.LIFECYCLE if each.changes else EdgeKind.SEMANTIC,
                    valid_from=each.since,
                    valid_to=each.until,
                    fact=fact_in(self._memory, span),
                    span=span,
                    pattern=each.relation,
                )

    def _together(self, stated: Sequence[Statement]) -> Iterator[Statement]:
        """Co-occurrences of names of one sentence that nothing relates, each pair once."""
        related = self._same | {frozenset((key(each.source.name), key(each.target.name))) for each in stated}
        places = deque(sorted(self._at))
        for sentence in self._sentences:
            found: dict[str, ExtractedName] = {}
            while places and places[0] < sentence.span.end:
                surface = self._at[places.popleft()]
                found.setdefault(key(surface.name), surface)
            fact = fact_in(self._memory, sentence.span) if len(found) > 1 else ""
            for one, other in combinations([*found][:MAX_TOGETHER], 2):
                pair = frozenset((one, other))
                if pair not in related:
                    related.add(pair)
                    yield Statement(
                        source=found[one],
                        type=CO_OCCURS,
                        target=found[other],
                        confidence=CO_OCCURRENCE,
                        kind=EdgeKind.SEMANTIC,
                        valid_from=None,
                        valid_to=None,
                        fact=fact,
                        span=sentence.span,
                        pattern=CO_OCCURS,
                    )
