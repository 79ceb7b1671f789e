"""One memory, read sentence by sentence: its names, the relations between them, and references to other sentences."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Final

import attrs

from graphsearch.ingest.extract.context import context_surfaces, speaker_of
from graphsearch.ingest.extract.rules.amending import Amendment, corrected, correction, may_correct, may_retract
from graphsearch.ingest.extract.rules.assembling import ReadSentence, TextNames, assembled
from graphsearch.ingest.extract.rules.conversation import (
    Conversation,
    LowerCaseNames,
    name_key,
)
from graphsearch.ingest.extract.rules.documents import is_of_document, opens
from graphsearch.ingest.extract.rules.masked_sentence import (
    FIRST_DATE,
    FIRST_NAME,
    MAX_NAMES,
    PRIVATE,
    masked_sentence,
)
from graphsearch.ingest.extract.rules.patterns import PatternsByCue
from graphsearch.ingest.extract.rules.persons import PERSON, shown_person, users
from graphsearch.ingest.extract.rules.phrases import phrases, without_overlaps
from graphsearch.ingest.extract.rules.references import (
    REACH,
    Mentioned,
    has_pronoun,
    is_leading_it,
    is_repeated_it,
    placeholder,
    pronouns,
    references,
)
from graphsearch.ingest.extract.rules.relating import (
    CO_OCCURS,
    FoundRelation,
    SentenceName,
    hypothetical_names,
    relations_in,
)
from graphsearch.ingest.extract.rules.vocabulary import FoundName, Vocabulary, changed_names
from graphsearch.model import Memory, Span
from graphsearch.model.extracted import ExtractedMemory, ExtractedName
from graphsearch.text.dates import Dates, DateSpan, Role, repeated_dates
from graphsearch.text.marked_names import marked_names
from graphsearch.text.name_spans import NameSpan, capitalised_names, is_year_of_name
from graphsearch.text.sentences import sentences
from graphsearch.text.unstated import Ranges, is_within, machine_lines, quotations

_NO_THINGS: Final = frozenset({"person", "place", "date", "url", "file", "function"})
_NO_LETTER: Final = "\x01"
_FULL_NAME: Final = 3
_DATE_CONFIDENCE: Final = 0.9


@attrs.define
class MemoryReader:
    """Reads one memory. ``declared`` and ``lower_case`` are names to be found in lower case.

    ``vocabulary`` are the known names in its text. ``people`` are the keys of names that the words beside them show to
    be persons. ``user`` is the name of "the user", in a memory without a speaker.
    """

    memory: Memory
    names: TextNames
    vocabulary: Sequence[FoundName]
    declared: LowerCaseNames
    lower_case: LowerCaseNames
    speaker: str
    last_date: DateSpan | None = None
    people: set[str] = attrs.field(factory=set)
    user: str = ""
    quoted: Ranges = ()

    @classmethod
    def of(
        cls,
        memory: Memory,
        conversation: Conversation,
        vocabulary: Vocabulary,
        lower_case: LowerCaseNames,
        user: str,
    ) -> MemoryReader:
        """The reader of a memory."""
        text = memory.text if memory.text.isascii() else PRIVATE.sub(_NO_LETTER, memory.text)
        names = TextNames(text, conversation)
        known = vocabulary.find(text)
        small = conversation.small.within(text)
        return cls(memory, names, known, small, lower_case, speaker_of(memory), user="" if speaker_of(memory) else user)

    def read(
        self, patterns: PatternsByCue, dates: Dates
    ) -> Generator[None, None, tuple[ExtractedMemory, Amendment | None]]:
        """The content of the memory, and its correction of earlier ones; takes time linear in its text.

        Every sentence is two steps.
        """
        text = self.names.text
        context = context_surfaces(self.memory)
        if self.speaker:
            self.names.types[name_key(self.speaker)] = PERSON
        found: list[ReadSentence] = []
        self.quoted = quotations(text)
        machine = machine_lines(text)
        for span in sentences(text):
            if is_within(machine, span.start, span.end):
                continue
            found.append(self._sentence(span, dates))
            yield
        self._find_people(found)
        self._confirm(context, found)
        retracting = may_retract(text)
        referring = has_pronoun(text)
        of_document = is_of_document(self.memory)
        for number, sentence in enumerate(found):
            if referring and number and of_document:
                self._resolve_subject(sentence, found[number - 1])
            if referring:
                self._resolve_pronouns(sentence, found[max(0, number - REACH) : number])
            sentence.related = self._relations(sentence, patterns)
            self._find_correction(sentence, back=retracting)
            yield
        for key in self.people:
            self.names.types.setdefault(key, PERSON)
        return assembled(self.memory, self.names, context, context[-1] if self.speaker else None, found)

    # -- names ----------------------------------------------------------------------------------------------------

    def _sentence(self, span: Span, dates: Dates) -> ReadSentence:
        text, conversation = self.names.text, self.names.conversation
        start, end = span.start, span.end
        dated = [
            attrs.evolve(date, start=date.start + start, end=date.end + start)
            for date in self._dates(text[start:end], dates)
            if not is_year_of_name(text, date.start + start, date.end + start)
        ]
        certain = [*marked_names(text, start, end), *(_date_name(date) for date in dated)]
        if self.user:
            certain += users(text, start, end, self.user)
        known = [*self.declared.find(text, start, end)]
        vocabulary = [each for each in self.vocabulary if start <= each.start < end]
        spans = [each.span for each in vocabulary]
        taken = without_overlaps(certain, known, [*phrases(text, start, end)], spans)
        changed = [*changed_names(text, vocabulary)]
        tools = {(each.start, each.end): each for each in changed}
        capitalised = (
            tools.get((each.start, each.end), each) if not each.type else each
            for each in capitalised_names(
                text, start, end, taken, conversation.people, heading=_is_heading(text, start)
            )
        )
        found = without_overlaps(taken, [*capitalised], [*changed, *self.lower_case.find(text, start, end)])
        for name, known_name in zip(spans, vocabulary, strict=True):
            written, whole = text[name.start : name.end], known_name.known.name
            if name in found and written.casefold() != whole.casefold():
                self.names.synonyms.setdefault(written, whole)
        self._find_types(found)
        return ReadSentence(
            span, [each for each in found if each.named], [date for date in dated if _date_name(date) in found]
        )

    def _find_types(self, found: Sequence[NameSpan]) -> None:
        """Record the types of names, those of the surest first."""
        for each in sorted(found, key=lambda each: -each.confidence):
            if each.named and each.type:
                self.names.types.setdefault(self.names.key(each), each.type)

    def _dates(self, sentence: str, dates: Dates) -> list[DateSpan]:
        """The dates of a sentence, including references to the last date before."""
        found = dates.find(sentence, self.memory.occurred_at)
        if not (found or self.last_date):
            return []
        last = found[0] if found else self.last_date
        repeated = repeated_dates(sentence, last) if last else ()
        if found:
            self.last_date = found[-1]
        apart = (each for each in repeated if all(each.start >= one.end or one.start >= each.end for one in found))
        return sorted((*found, *apart), key=lambda each: each.start)

    def _find_people(self, found: Sequence[ReadSentence]) -> None:
        """Find the names of unknown type that the words beside them show to be persons."""
        for sentence in found:
            for each in sentence.found:
                if not each.type and shown_person(self.names.text, each, sentence.span.start, sentence.span.end):
                    self.people.add(self.names.key(each))

    def _confirm(self, context: Sequence[ExtractedName], found: Sequence[ReadSentence]) -> None:
        """Make tentative names certain if they are certain elsewhere in the memory."""
        if not any(each.tentative for sentence in found for each in sentence.found):
            return
        key = self.names.key
        sure = {key(each): each.type for sentence in found for each in sentence.found if not each.tentative}
        sure |= {name_key(surface.name): surface.type for surface in context}
        known = {*sure, *self.names.conversation.people, *self.people} | {
            word for name, type_ in sure.items() if type_ in ("", "person") for word in _first_and_last(name)
        }
        for sentence in found:
            sentence.found = [
                attrs.evolve(each, tentative=False) if each.tentative and key(each) in known else each
                for each in sentence.found
            ]

    # -- relations ------------------------------------------------------------------------------------------------

    def _relations(self, sentence: ReadSentence, patterns: PatternsByCue) -> list[FoundRelation]:
        """The relations between the names of a sentence; the speaker is numbered after the last of them."""
        called = [self._sentence_name(each) for each in sentence.names[: MAX_NAMES - 1]]
        if len(called) + bool(self.speaker) < 2:  # noqa: PLR2004 - a relation has two ends
            return []
        first_person = len(called) if self.speaker else None
        masked = corrected(self._masked(sentence, first_person))
        if first_person is not None and chr(FIRST_NAME + first_person) in masked:
            called.append(SentenceName(key=name_key(self.speaker), type="person"))
        elif len(called) < 2:  # noqa: PLR2004
            return []
        at = self.memory.occurred_at
        if " never " in masked:
            asserted = masked.replace(" never ", " ")
            denied = relations_in(asserted, called, patterns, (), at, first_person=first_person)
            sentence.denied = [
                each for each in denied if each.type != CO_OCCURS and not self._is_quoted(sentence, each)
            ]
        relations = [
            each
            for each in relations_in(masked, called, patterns, sentence.dates, at, first_person=first_person)
            if each.type == CO_OCCURS or not self._is_quoted(sentence, each)
        ]
        if any(name.tentative for name in called):
            sentence.supposed = hypothetical_names(masked, called, patterns)
        for relation in (*relations, *sentence.denied):
            for number, type_ in ((relation.source, relation.source_type), (relation.target, relation.target_type)):
                if type_:
                    self.names.types.setdefault(called[number].key, type_)
        return relations

    def _is_quoted(self, sentence: ReadSentence, relation: FoundRelation) -> bool:
        """Whether an end of a relation is in a quotation, and is not the whole of it."""
        names = sentence.names
        spans = [names[end] for end in (relation.source, relation.target) if end < len(names)]
        return any(
            is_within([(first + 1, last - 1)], each.start, each.end)
            and len(self.names.text[first + 1 : last - 1].strip(" .,!?")) > each.end - each.start
            for first, last in self.quoted
            for each in spans
        )

    def _sentence_name(self, span: NameSpan) -> SentenceName:
        key = self.names.key(span)
        return SentenceName(
            key=key, type=self.names.type_of(key), tentative=span.tentative, written=self.names.written(span)
        )

    def _masked(self, sentence: ReadSentence, speaker: int | None) -> str:
        """The masked sentence, with placeholders for its names and dates."""
        text, span = self.names.text, sentence.span
        named = [
            (each.start, each.end, placeholder(chr(FIRST_NAME + number), each, text))
            for number, each in enumerate(sentence.names[: MAX_NAMES - 1])
        ]
        dated = [
            (date.start, date.end, chr(FIRST_DATE + number)) for number, date in enumerate(sentence.dates[:MAX_NAMES])
        ]
        return masked_sentence(text, span.start, span.end, sorted((*named, *dated)), speaker)

    # -- references to other sentences ----------------------------------------------------------------------------

    def _resolve_pronouns(self, sentence: ReadSentence, before: Sequence[ReadSentence]) -> None:
        """Resolve pronouns of a sentence to names in it or in the last sentence with names."""
        last = next((each for each in reversed(before) if each.found), None)
        start, end = sentence.span.start, sentence.span.end
        if (last or sentence.found) and (found := pronouns(self.names.text, start, end, spoken=bool(self.speaker))):
            resolved = references(found, self._antecedents(sentence), self._antecedents(last) if last else ())
            sentence.found = sorted((*sentence.found, *resolved), key=lambda each: each.start)

    def _antecedents(self, sentence: ReadSentence) -> list[Mentioned]:
        """The names that "he" or "it" may refer to; the speaker, who says "I", is excluded."""
        names = self.names
        mentioned = [
            Mentioned(each, key, names.type_of(key) or (PERSON if key in self.people else ""))
            for each in sentence.names
            if (key := names.key(each))
        ]
        speaker = name_key(self.speaker)
        return [each for each in mentioned if not speaker or names.conversation.whole.get(each.key) != speaker]

    def _resolve_subject(self, sentence: ReadSentence, before: ReadSentence) -> None:
        """Resolve "it" at the beginning of a sentence of a document to the subject of the sentence before."""
        start = sentence.span.start
        found = pronouns(self.names.text, start, sentence.span.end, spoken=True)
        leading = [each for each in found if is_leading_it(each, start) or is_repeated_it(each, start)]
        subject = before.names[0] if before.names else None
        if not leading or subject is None or not opens(self.names.text, before.span.start, subject):
            return
        key = self.names.key(subject)
        type_ = self.names.type_of(key) or (PERSON if key in self.people else "")
        if type_ not in _NO_THINGS:
            resolved = references(leading, (), [Mentioned(subject, key, type_)])
            sentence.found = sorted((*resolved, *sentence.found), key=lambda each: each.start)

    def _find_correction(self, sentence: ReadSentence, *, back: bool) -> None:
        """Find the correction that a sentence makes; its right name becomes certain."""
        if not may_correct(self.names.text, sentence.span.start, sentence.span.end, back=back):
            return
        sentence.correction = correction(self._masked(sentence, None))
        if sentence.correction and sentence.correction.meant is not None:
            sentence.supposed = {*sentence.supposed, sentence.correction.meant}


def _date_name(date: DateSpan) -> NameSpan:
    """A date as a name; a relative date such as "yesterday" only occupies its span."""
    return NameSpan(
        start=date.start,
        end=date.end,
        type="date",
        confidence=_DATE_CONFIDENCE,
        pattern="date",
        named=date.absolute and date.role is not Role.BETWEEN,
    )


def _is_heading(text: str, start: int) -> bool:
    """Whether what begins at ``start`` stands behind the mark of a heading."""
    return text[text.rfind("\n", 0, start) + 1 : start].strip().startswith("#")


def _first_and_last(key: str) -> Sequence[str]:
    """The words of a full name by which a person may be called."""
    words = key.split()
    return (words[0], words[-1]) if len(words) <= _FULL_NAME else ()
