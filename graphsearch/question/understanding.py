"""The meaning of one question in one scope, found before the search: time, names, relation and kind.

What can be guessed of it is embedded before the snapshot is opened (`PhraseVectors.of_question`); inside, at most one
more text and the phrases of a new profile are.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final
from uuid import UUID
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Floats, Hits
from graphsearch.columns.formulas import cosines
from graphsearch.ingest.frames.table import table
from graphsearch.model import Vector
from graphsearch.protocols import Embedder
from graphsearch.question.analysis import PRESENT, AskedTime, QuestionText, WrittenName, asked_time, overlapping
from graphsearch.question.linking import Linked, dated_names, link_candidates, look_up
from graphsearch.question.type_profile import (
    DEFINES,
    TARGET,
    TypeProfile,
    affinities,
    asked_kind,
    asked_of_code,
    said,
    standardised,
    worded,
)
from graphsearch.text.analyser import Analyser


@attrs.frozen(kw_only=True)
class AskedRelation:
    """A relation type that a question asks for: its affinity, in standard deviations over the types of the scope."""

    type: str
    affinity: float


@attrs.frozen(kw_only=True)
class AskedName:
    """A name in a question, with the probability in (0, 1] of each entity it may mean; without any if it is unknown."""

    written: str
    start: int
    end: int
    entities: Mapping[UUID, float]


@attrs.frozen(kw_only=True)
class Interpretation:
    """What a question was understood to ask for.

    * ``names`` in order, unknown ones last. ``relations``: the types asked for, best first; empty if the question does
      not indicate any.
    * ``kind``: what "who", "where" or "which service" wants, in words; empty if not stated.
    * ``time``: the time that the question names. Explicit options of the caller take precedence: the answer's moments
      are in `SearchResult.as_of`.
    * ``worded``: how much of the question, in [0, 1], is words of the relation that it asks for most.
    """

    names: tuple[AskedName, ...]
    relations: tuple[AskedRelation, ...]
    kind: str
    time: AskedTime
    worded: float = 0.0


NO_HITS: Final = Hits(
    keys=np.empty(0, np.int64), signatures=np.empty(0, np.int64), values=np.empty(0), importance=np.empty(0)
)


@attrs.frozen(eq=False, kw_only=True)
class Understanding:
    """The meaning of a question.

    * ``named``: the entities that it may name and that hold at its time, in order of key, in the snapshot that it was
      understood in.
    * ``linked``: its names; ``residue``: the words that are part of no name and of no time, which ask for something
      about them, and their ``terms``. Empty if the question is names and nothing else: "what of Ada?".
    * ``unknown``: written names that are not visible ones; ``strange_names``: the idf of their terms.
    * ``profile``: the relation types of the scope. ``affinity`` of each of them, ``direction`` of some: 1 if the name
      in the question is the source, -1 if it is the target.
    * ``meant``: the rows of the types that its words mean by the table of relations (`type_profile.said`).
    * ``ours``: whether it asks of who asks it: "which database do we use?".
    * ``stated``: the row of the type that it asks for in words that mean no other (`asked_of_code`); -1 for none.
    * ``kind_asked``: the kind of thing that it asks for, in words; empty if not stated. ``kind``: how much each kind of
      entity of the profile is asked for, in standard deviations.
    * ``between``: rows of the kinds that the question mentions besides the one that it asks for.
    * ``time``: the time that the question names.
    * ``vector`` of the whole question, if there is an embedder.

    Affinities and kinds are 0 until they are compared (`understand`).
    """

    question: str
    linked: Linked
    profile: TypeProfile
    residue: str = ""
    terms: tuple[str, ...] = ()
    unknown: tuple[WrittenName, ...] = ()
    strange_names: tuple[Mapping[str, float], ...] = ()
    named: Hits = NO_HITS
    direction: Mapping[int, int] = attrs.field(factory=dict)
    meant: frozenset[int] = frozenset()
    ours: bool = False
    stated: int = -1
    kind_asked: str = ""
    between: tuple[int, ...] = ()
    time: AskedTime = PRESENT
    affinity: Floats = attrs.field(default=attrs.Factory(lambda self: np.zeros(len(self.profile.types)), True))
    kind: Floats = attrs.field(default=attrs.Factory(lambda self: np.zeros(len(self.profile.kinds)), True))
    vector: Vector | None = None

    @property
    def names(self) -> tuple[AskedName, ...]:
        """The names in order: those that are linked, then those that are unknown."""
        found: dict[tuple[int, int], dict[UUID, float]] = {}
        for each in self.linked.links:
            found.setdefault((each.start, each.end), {})[each.entity_id] = each.probability
        linked = [
            AskedName(written=self.question[start:end], start=start, end=end, entities=entities)
            for (start, end), entities in sorted(found.items())
        ]
        unknown = [AskedName(written=each.text, start=each.start, end=each.end, entities={}) for each in self.unknown]
        return (*linked, *unknown)

    @property
    def interpretation(self) -> Interpretation:
        """A readable form of the same."""
        return Interpretation(
            names=self.names,
            relations=self.relations(),
            kind=self.kind_asked,
            time=self.time,
            worded=self.worded,
        )

    @cached_property
    def worded(self) -> float:
        """The share of the question, in [0, 1], that belongs to the type asked for most, by words alone."""
        if not len(self.affinity):
            return 0.0
        most = int(self.affinity.argmax())
        return 1.0 if most in self.meant else worded(self.profile, self.terms, most)

    def relations(self, count: int = 3) -> tuple[AskedRelation, ...]:
        """The relation types that are asked for most, best first: those above the average of the scope."""
        order = np.argsort(-self.affinity, kind="stable")[:count].tolist()
        return tuple(
            AskedRelation(type=self.profile.types[row], affinity=float(self.affinity[row]))
            for row in order
            if self.affinity[row] > 0
        )


def at_time_asked(meaning: Understanding | None, reader: Reader) -> Reader:
    """Move a reader to the time that a question asks about."""
    return reader if meaning is None else reader.viewing(meaning.time.view(reader.view))


KEPT: Final = 8_192
"""Number of type-name vectors that are cached, by a hash of their texts."""
HOLLOW: Final = frozenset({"name", "names"})
"""Words that ask for nothing by themselves, unless a relation type has them: "the name of Luis's dog"."""
OURS: Final = frozenset({"i", "my", "we", "our"})
"""Words of who asks: what is asked of these is asked of the scope."""
ASKER: Final = frozenset({"person", "organisation", "group"})
STATED: Final = 6.0
"""Deviations that a stated type is above all others: certain, where most types of code are few and their weight low."""
NEXT: Final = 1.0
"""Deviations that the definition of the name is above all but the stated type."""
MEANT: Final = 0.5
"""Deviations that what words mean by the table of relations is above what is only alike."""


class PhraseVectors:
    """A cache of embeddings of short texts, such as names of types; no text is kept."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._kept: OrderedDict[bytes, Vector] = OrderedDict()
        self._profiles: WeakKeyDictionary[TypeProfile, Vector] = WeakKeyDictionary()

    async def of_question(self, question: str) -> QuestionVectors:
        """Embed a question, and its words without those that are surely a name or a time, before anything is read."""
        vectors = QuestionVectors(self, QuestionText(question))
        if question.strip():
            await vectors.of(question, guess_residue(vectors.question) or question)
        return vectors

    async def of_profile(self, profile: TypeProfile) -> Vector:
        """The vectors of the texts of a profile, one row each: its types, these with their ends, its kinds."""
        if profile not in self._profiles:
            texts = (*profile.phrases, *profile.typed, *profile.kind_phrases)
            self._profiles[profile] = await self.of_phrases(texts)
        return self._profiles[profile]

    async def of_phrases(self, phrases: Sequence[str]) -> Vector:
        """The normalised vectors of phrases, a row each; a question was embedded before: the dimension is known."""
        keys = [hashlib.blake2b(phrase.encode(), digest_size=16).digest() for phrase in phrases]
        missing = {key: phrase for key, phrase in zip(keys, phrases, strict=True) if key not in self._kept}
        if missing:
            made = _normalised(await self.embedder.embed(list(missing.values()), input_type="document"))
            self._kept |= zip(missing, made, strict=True)
        rows = [self._kept[key] for key in keys]
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return np.array(rows, np.float32).reshape(len(rows), self.embedder.dimensions)


@attrs.frozen(eq=False)
class QuestionVectors:
    """The vectors of one question's texts, each embedded once, and those of phrases."""

    phrases: PhraseVectors
    question: QuestionText
    _kept: dict[str, Vector] = attrs.field(factory=dict, init=False)

    async def of(self, *texts: str) -> tuple[Vector, ...]:
        """The normalised vectors of texts of the question."""
        if missing := [text for text in dict.fromkeys(texts) if text not in self._kept]:
            made = _normalised(await self.phrases.embedder.embed(missing, input_type="query"))
            self._kept.update(zip(missing, made, strict=True))
        return tuple(self._kept[text] for text in texts)


def guess_residue(question: QuestionText) -> str:
    """The words of a question without those of times, and of what is surely written as a name.

    This is `Understanding.residue` for most questions, known before anything is read.
    """
    spans = [*question.time.spans, *((each.start, each.end) for each in question.written)]
    hollow = (place for place, text in enumerate(question.texts) if text in HOLLOW)
    return question.without(question.places(spans).union(hollow))


def _normalised(vectors: Vector) -> Vector:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0, norms, 1.0), dtype=np.float32)


async def understand(
    question: str,
    reader: Reader,
    profile: TypeProfile,
    vectors: QuestionVectors | None = None,
    *,
    as_of: datetime | None = None,
) -> Understanding:
    """Read what a question asks for, by words and, with vectors, by meaning: all of it in one snapshot.

    ``reader`` is at the time that the caller asks for, ``as_of`` if the caller gave one. A time that the question names
    counts only where the caller gave none; its names are looked up at that time (`AskedTime.view`).
    """
    read, given = vectors.question if vectors else QuestionText(question), reader.view
    timeless = given.since is not None or read.time == PRESENT
    time = PRESENT if timeless else asked_time(question, given.as_of, as_of=as_of)
    then = reader.viewing(time.view(given))
    found = await look_up(read, then, profile.nameable)
    if time.spans and (dated := dated_names(read, time.spans, found.nameable)):
        time = asked_time(question, given.as_of, dated, as_of=as_of)
        then = reader.viewing(time.view(given))
        found = await look_up(read, then, profile.nameable)
    linked, named = await link_candidates(read, found, profile, then, read.places(time.spans))
    meant = interpreted(read, linked, profile, reader.analyser, time=time)
    return await with_meaning(attrs.evolve(meant, named=named), vectors)


def interpreted(
    question: QuestionText, linked: Linked, profile: TypeProfile, analyser: Analyser, *, time: AskedTime = PRESENT
) -> Understanding:
    """The meaning of a question as far as words show it."""
    texts = question.texts
    hollow = HOLLOW - profile.postings.keys()
    apart = linked.masked | question.places(time.spans)
    residue = question.without(apart.union(place for place, text in enumerate(texts) if text in hollow))
    terms = tuple(analyser.terms(residue))
    names = [] if linked.names_code else _names_in(question, linked)
    meant = said(texts, names, profile.rows_of, table())
    own = said(texts, names, lambda type_: [profile.row_of(type_)], profile.verbs)
    direction = {row: end for row, end in (*meant.items(), *own.items()) if end}
    asked = asked_of_code(texts, linked.masked) if linked.names_code else None
    stated = -1 if asked is None else profile.row_of(asked[0])
    if asked is not None and stated >= 0:  # what says so is understood: it is no word to find
        terms = ()
        rows = ((profile.row_of(DEFINES), TARGET), (stated, asked[1]))
        direction = {row: end for row, end in rows if row >= 0}
    kind = asked_kind(texts, lambda word: bool(profile.kinds_of(analyser.terms(word))))
    unknown = tuple(each for each in question.written if not overlapping(each.start, each.end, linked.links))
    return Understanding(
        question=question.text,
        linked=linked,
        residue=residue,
        terms=terms,
        unknown=unknown,
        strange_names=tuple(profile.rarities(analyser.terms(each.text)) for each in unknown),
        profile=profile,
        direction=direction,
        meant=frozenset(meant),
        ours=not unknown and not OURS.isdisjoint(texts),
        stated=stated,
        kind_asked=kind,
        between=profile.kinds_of(set(terms).difference(analyser.terms(kind))),
        time=time,
    )


def _names_in(question: QuestionText, linked: Linked) -> list[tuple[range, frozenset[str]]]:
    """The places of the linked names in the words of a question, in order, with the types of what each may mean."""
    kinds: dict[tuple[int, int], set[str]] = {}
    for each in linked.links:
        kinds.setdefault((each.start, each.end), set()).add(each.kind)
    spans = {span: sorted(question.places([span])) for span in kinds}
    names = [(range(at[0], at[-1] + 1), frozenset(kinds[span])) for span, at in spans.items() if at]
    asker = [(range(at, at + 1), ASKER) for at, text in enumerate(question.texts) if text in OURS]
    return sorted([*names, *asker], key=lambda name: name[0].start)


async def with_meaning(found: Understanding, vectors: QuestionVectors | None) -> Understanding:
    """Compare a question with the types and kinds of the scope, by meaning too if there are vectors."""
    profile, count = found.profile, len(found.profile.types)
    kind, query = np.zeros(len(profile.kinds)), None
    parts: tuple[Vector, Vector, Vector] | None = None
    if vectors is not None and found.question.strip():
        query, residue = await vectors.of(found.question, found.residue or found.question)
        rows = await vectors.phrases.of_profile(profile)
        parts = (residue, rows[:count], rows[count : 2 * count])
        if found.kind_asked:
            (named_kind,) = await vectors.phrases.of_phrases([found.kind_asked])
            kind = standardised(cosines(rows[2 * count :], named_kind))
    affinity = affinities(profile, found.terms, parts) if found.terms or found.kind_asked else np.zeros(count)
    if rows_meant := sorted(found.meant):
        affinity[rows_meant] = np.maximum(affinity[rows_meant], affinity.max() + MEANT)
    if found.stated >= 0:  # where there is nothing of that type, what the name is comes first
        most = affinity.max(initial=0.0)
        if (definition := profile.row_of(DEFINES)) >= 0:
            affinity[definition] = most + NEXT
        affinity[found.stated] = most + STATED
    return attrs.evolve(found, affinity=affinity, kind=kind, vector=query)
