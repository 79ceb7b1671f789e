"""Sentences as they are read: their names, dates and relations, with the types that the text gives to names."""

from __future__ import annotations

from typing import Final

import attrs

from graphsearch.ingest.extract.rules.corrections import Correction
from graphsearch.ingest.extract.rules.relating import FoundRelation
from graphsearch.ingest.extract.rules.speakers import Conversation, name_key
from graphsearch.model import Span
from graphsearch.model.extracted import ExtractedName
from graphsearch.text.dates import DateSpan
from graphsearch.text.name_spans import NameSpan

_PUBLIC_TYPES: Final = {"team": "organisation", "status": "concept"}


@attrs.define
class ReadSentence:
    """A sentence, with its names in order and without overlaps, its dates, and the relations between its names."""

    span: Span
    found: list[NameSpan]
    dates: list[DateSpan]
    related: list[FoundRelation] = attrs.field(factory=list)
    supposed: set[int] = attrs.field(factory=set)
    """Numbers of names that would be related if the sentence asserted what it denies or doubts."""
    correction: Correction | None = None
    """Its correction of the sentence before."""
    denied: list[FoundRelation] = attrs.field(factory=list)
    """Relations that it declares to have never held."""

    @property
    def names(self) -> list[NameSpan]:
        """Its names and resolved pronouns, without dates."""
        return [each for each in self.found if each.type != "date"]


@attrs.define
class TextNames:
    """The names of one text: their keys, their types found so far (by key), and their surfaces.

    ``topic`` is the thing named in the turn before, to which a span with an ``outside_name`` refers.
    """

    text: str
    conversation: Conversation
    topic: ExtractedName | None
    types: dict[str, str] = attrs.field(factory=dict)

    def written(self, span: NameSpan) -> str:
        """The name as written, or that of the antecedent of a pronoun."""
        named = span.antecedent or span
        return named.outside_name or self.text[named.start : named.end]

    def key(self, span: NameSpan) -> str:
        """The key of a name, equal for all its spellings."""
        return name_key(self.written(span))

    def type_of(self, key: str) -> str:
        """The type of a name; empty if unknown."""
        return self.types.get(key, "") or ("person" if key in self.conversation.people else "")

    def surface(self, span: NameSpan) -> ExtractedName:
        """The surface of a name, or of the antecedent of a pronoun."""
        if span.antecedent:
            return self.surface(span.antecedent)
        if span.outside_name and self.topic:
            return self.typed(attrs.evolve(self.topic, span=None))
        name = " ".join(self.text[span.start : span.end].split())
        return ExtractedName(
            name=name,
            type=self._public_type(name, span.type),
            span=Span(start=span.start, end=span.end),
            confidence=span.confidence,
            pattern=span.pattern,
        )

    def typed(self, surface: ExtractedName) -> ExtractedName:
        """A surface with the public type of its name."""
        public = self._public_type(surface.name, surface.type)
        return surface if public == surface.type else attrs.evolve(surface, type=public)

    def _public_type(self, name: str, type: str) -> str:
        """The entity type of a name: its own, else that found in the text."""
        known = type or self.type_of(name_key(name))
        return _PUBLIC_TYPES.get(known, known)
