"""Interpret a question: link its names in a snapshot, then embed the rest outside of it; find the kind it asks for."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from uuid import UUID
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Floats
from graphsearch.model import Vector
from graphsearch.protocols import Embedder
from graphsearch.query.written_names import Named
from graphsearch.scoring.similarity import cosines
from graphsearch.text.analyser import STOP_WORDS, Analyser
from graphsearch.understanding.asked_time import AskedTime
from graphsearch.understanding.direction import directions
from graphsearch.understanding.linking import Linked, link
from graphsearch.understanding.name_lookup import candidate_ids, nameable, unlinked, with_other_forms
from graphsearch.understanding.question_tokens import Token, tokens
from graphsearch.understanding.type_profile import TypeProfile, affinities, standardised
from graphsearch.understanding.understood import Understanding, residue_of, surely_written, unknown_names

KEPT: Final = 8_192
"""Number of type-name vectors that are cached, by a hash of their texts."""
LONGEST: Final = 8
"""Most words of a name if the word order of a question is read."""


class PhraseVectors:
    """A cache of embeddings of short texts, such as names of types; no text is kept."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._kept: OrderedDict[bytes, Vector] = OrderedDict()
        self._of_profiles: WeakKeyDictionary[TypeProfile, Vector] = WeakKeyDictionary()

    async def asked(self, question: Sequence[str]) -> Vector:
        """The vectors of texts of a question, normalised, one row each."""
        return _normalised(await self.embedder.embed(question, input_type="query"))

    async def of_profile(self, profile: TypeProfile) -> Vector:
        """The vectors of the texts of a profile, one row each: its types, these with their ends, its kinds."""
        known = self._of_profiles.get(profile)
        if known is None:
            texts = (*profile.phrases, *profile.typed, *profile.kind_phrases)
            known = self._of_profiles[profile] = await self.of_phrases(texts)
        return known

    async def of_phrases(self, phrases: Sequence[str]) -> Vector:
        """The normalised vectors of phrases, a row each; a question was embedded before: the dimension is known."""
        keys = {phrase: hashlib.blake2b(phrase.encode(), digest_size=16).digest() for phrase in phrases}
        missing = [phrase for phrase, key in keys.items() if key not in self._kept]
        if missing:
            made = _normalised(await self.embedder.embed(missing, input_type="document"))
            self._kept |= {keys[phrase]: row for phrase, row in zip(missing, made, strict=True)}
        rows = [self._kept[keys[phrase]] for phrase in phrases]
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return np.array(rows, np.float32).reshape(len(rows), self.embedder.dimensions)


def _normalised(vectors: Vector) -> Vector:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0, norms, 1.0), dtype=np.float32)


@attrs.frozen(eq=False, kw_only=True)
class Reading:
    """What was read from a snapshot for a question: its names, and the relation types of the scope."""

    question: str
    written: tuple[Named, ...]
    """The spans that are certainly written as one name."""
    tokens: tuple[Token, ...]
    candidates: tuple[UUID, ...]
    linked: Linked
    profile: TypeProfile
    time: AskedTime
    analyser: Analyser

    @property
    def residue(self) -> str:
        """The words of the question that are part of no name and of no time."""
        dated = dated_tokens(self.tokens, self.time)
        return residue_of(self.tokens, [part or at in dated for at, part in enumerate(self.linked.masked)])

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms of the residue."""
        return tuple(self.analyser.terms(self.residue))

    @property
    def kind(self) -> str:
        """The kind of thing that the question asks for, in words; empty if it is not stated."""
        return asked_kind([token.text for token in self.tokens], self._is_kind)

    def _is_kind(self, word: str) -> bool:
        """Whether a word alone determines a kind of entities of the scope."""
        terms = self.analyser.terms(word)
        return any(not each.isdisjoint(terms) for each in self.profile.kind_terms)


async def read(question: str, time: AskedTime, profile: TypeProfile, reader: Reader) -> Reading:
    """Link the names of a question. Words of a date name no entity."""
    words = tokens(question)
    ids = await candidate_ids(question, words, reader)
    known = await nameable(ids, reader)
    analyser = reader.analyser
    written = surely_written(question)
    spans = [(each.start, each.end) for each in written]
    dated = dated_tokens(words, time)
    linked = link(question, words, known, profile.wording, analyser.terms, written=spans, blocked=dated)
    others = unlinked(words, written, linked, profile.wording)
    linked, more = await with_other_forms(words, others, linked, reader)
    return Reading(
        question=question,
        written=written,
        tokens=words,
        candidates=tuple(sorted({*ids, *more})),
        linked=linked,
        profile=profile,
        time=time,
        analyser=analyser,
    )


def dated_tokens(words: Sequence[Token], time: AskedTime) -> frozenset[int]:
    """The positions of the words that name a time."""
    return frozenset(
        place
        for place, word in enumerate(words)
        if any(start < word.end and word.start < end for start, end in time.spans)
    )


async def understand(found: Reading, phrases: PhraseVectors | None) -> Understanding:
    """Interpret a question. Calls the embedder, if any, once for the question and once for uncached texts."""
    profile, count = found.profile, len(found.profile.types)
    kind = np.zeros(len(profile.kinds))
    if phrases is None or not found.question.strip():
        return _understood(found, None, None, kind)
    query = await phrases.asked([found.question, found.residue or found.question])
    rows = await phrases.of_profile(profile)
    if found.kind:
        (asked,) = await phrases.of_phrases([found.kind])
        kind = standardised(cosines(rows[2 * count :], asked))
    return _understood(found, query, rows[: 2 * count], kind)


def _understood(found: Reading, query: Vector | None, rows: Vector | None, kind: Floats) -> Understanding:
    profile, words, terms = found.profile, [token.text for token in found.tokens], found.analyser.terms
    count, unknown = len(profile.types), unknown_names(found.written, found.linked)
    phrases, typed = (None, None) if rows is None else (rows[:count], rows[count:])
    return Understanding(
        question=found.question,
        tokens=found.tokens,
        candidates=found.candidates,
        linked=found.linked,
        terms=found.terms,
        unknown=unknown,
        strange_names=tuple(profile.rarities(terms(each.text)) for each in unknown),
        profile=profile,
        affinity=_affinity(found, None if query is None else query[1], phrases, typed),
        direction=directions(words, found.linked.masked, profile.verbs, terms, LONGEST),
        kind=kind,
        kind_asked=found.kind,
        between=_between(found),
        time=found.time,
        vector=None if query is None else query[0],
    )


def _affinity(found: Reading, vector: Vector | None, phrases: Vector | None, typed: Vector | None) -> Floats:
    if not found.terms and not found.kind:
        return np.zeros(len(found.profile.types))
    return affinities(found.profile, found.terms, vector, phrases, typed)


def _between(found: Reading) -> tuple[int, ...]:
    """The kinds whose last word occurs in the residue of a question, except the kind that it asks for."""
    named = set(found.terms).difference(found.analyser.terms(found.kind))
    return tuple(row for row, terms in enumerate(found.profile.kind_terms) if not named.isdisjoint(terms))


_PRONOUNS: Final[Mapping[str, str]] = {
    "who": "person human individual",
    "whom": "person human individual",
    "whose": "person human individual",
    "where": "place location site",
    "when": "date time",
}
_DETERMINERS: Final = frozenset({"which", "what"})


def asked_kind(words: Sequence[str], is_kind: Callable[[str], bool]) -> str:
    """The kind that the first question word asks for, in words: "which backup vault …" wants a "backup vault".

    ``words`` are the folded words of a question. The noun phrase ends after a word that ``is_kind``: "which inspector
    looks after …" wants an "inspector". Empty if there is none: "what runs there?".
    """
    for place, word in enumerate(words):
        if word in _PRONOUNS:
            return _PRONOUNS[word]
        if word in _DETERMINERS:
            noun = [each for each in words[place + 1 : place + 3] if each not in STOP_WORDS]
            first = words[place + 1 : place + 2]
            if first and first[0] not in STOP_WORDS:
                return first[0] if is_kind(first[0]) else " ".join(noun)
    return ""
