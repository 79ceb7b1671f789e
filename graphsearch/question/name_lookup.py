"""Look up the entities that the words of a question may name, by stored names and by other forms of these.

Other forms are nicknames, initials, handles, legal forms and typing errors: compared as ingest compares names
(`graphsearch.names`), if nothing of the same spelling was found.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from itertools import islice
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch._support.concurrency import aside, both
from graphsearch.access.reader import Reader
from graphsearch.claims.naming import folded_name
from graphsearch.columns import Hits
from graphsearch.ingest.stating.scope import VALUE
from graphsearch.model import NameMatch
from graphsearch.names import typed_names as reading
from graphsearch.names.candidate_index import MAX_COMPARED
from graphsearch.names.comparing import is_misspelt, is_part, is_same
from graphsearch.names.likeness import is_comparable
from graphsearch.names.slips import slip
from graphsearch.names.vocabulary import is_given_name, is_nickname
from graphsearch.question.asked_time import AskedTime, asked_time
from graphsearch.question.code_questions import with_bare_names
from graphsearch.question.linking import Link, Linked, Nameable, link, unknown_names
from graphsearch.question.question_names import Named, NameKind, named, overlapping, runs
from graphsearch.question.type_profile import NOTHING_KNOWN, TypeProfile, Wording
from graphsearch.question.words import Token, tokens
from graphsearch.text.analyser import STOP_WORDS
from graphsearch.text.trigrams import fold, name_words, one_letter_off, similarity, spoken_words

SHARED: Final = 25
"""A word that occurs in this many names is not looked up alone, only as part of whole names."""


async def candidate_ids(question: str, tokens: Sequence[Token], reader: Reader) -> list[UUID]:
    """The visible entities of which a name or a word of a name occurs in a question."""
    distinctive = [
        token.text
        for token in tokens
        if len(token.text) > 1 and (token.text not in STOP_WORDS or (token.capitalised and token.start > 0))
    ]
    words = dict.fromkeys((*distinctive, *(word for word in spoken_words(question) if word not in STOP_WORDS)))
    written = {run.name for run in runs(question)}
    parts = (name.split(".") for name in written if "." in name and " " not in name)  # a path of code
    names = sorted(written | {".".join(each[start:]) for each in parts for start in range(1, len(each))} - {""})
    whole, partly = await both(reader.find_names(names), by_words(list(words), reader))
    return sorted({each.entity_id for each in (*whole, *partly)})


async def by_words(words: Sequence[str], reader: Reader) -> list[NameMatch]:
    """The entities with one of some distinctive words in a name; hidden entities do not make a word common."""
    found = await reader.find_name_words(words, limit=SHARED)
    number = Counter(match.name for match in found)
    return [match for match in found if number[match.name] < SHARED]


@attrs.frozen(eq=False, kw_only=True)
class Candidates:
    """The entities that some words may name and that hold and are visible, with their visible names and as hits."""

    nameable: Sequence[Nameable]
    hits: Hits

    @property
    def size(self) -> int:
        """The number of their names."""
        return sum(len(each.names) for each in self.nameable)


async def look_up(question: str, words: Sequence[Token], reader: Reader) -> Candidates:
    """The entities of which a name or a word of a name occurs in a question."""
    return await _held(await candidate_ids(question, words, reader), reader)


async def _held(ids: Sequence[UUID], reader: Reader) -> Candidates:
    """The entities that hold and are visible, with their visible names; no value is a name of a question."""
    hits = await reader.locate(ids)
    entities = await reader.entities(hits.keys)
    known = [
        Nameable(id=each.id, type=each.type, names=(each.name, *each.aliases))
        for each in entities
        if each.type != VALUE
    ]
    return Candidates(nameable=known, hits=hits)


async def link_names(question: str, reader: Reader, profile: TypeProfile | None = None) -> Linked:
    """Link the names in a text to entities that hold in a view; without a profile, every word may be a name."""
    words = tokens(question)
    found = await look_up(question, words, reader)
    if profile is None:
        return await aside(
            lambda: link(question, words, found.nameable, NOTHING_KNOWN, reader.analyser.terms), found.size
        )
    linked, _ = await linked_names(question, words, found, profile, reader, surely_written(question), frozenset())
    return linked


async def linked_names(
    question: str,
    words: Sequence[Token],
    found: Candidates,
    profile: TypeProfile,
    reader: Reader,
    written: Sequence[Named],
    dated: Collection[int],
) -> tuple[Linked, Hits]:
    """Link the words of a question to candidates, and to entities that are called otherwise; with those as hits.

    ``written``: what is surely written as a name. Words at the places ``dated`` are of a time, and name nothing.
    """
    wording, terms = profile.wording, reader.analyser.terms
    spans = [(each.start, each.end) for each in written]
    linked = await aside(
        lambda: link(question, words, found.nameable, wording, terms, written=spans, blocked=dated), found.size
    )
    names = frozenset(word for each in found.nameable for name in each.names for word in name_words(name))
    others = unlinked(words, written, linked, wording) or strange_words(
        words, linked, lambda word: word in names or not profile.containing.keys().isdisjoint(terms(word))
    )
    linked, more = await with_other_forms(words, others, linked, reader)
    linked = with_bare_names(words, linked, found.nameable)
    hits = found.hits if more is None else Hits.concatenate([found.hits, more])
    keys, first = np.unique(hits.keys, return_index=True)
    sure = linked.probabilities
    return linked, hits.keep(first[np.array([each in sure for each in reader.entity_ids(keys)], np.bool_)])


def surely_written(question: str) -> tuple[Named, ...]:
    """The spans of a question that are certainly written as a name."""
    return tuple(name for name in named(question) if not name.tentative and name.kind is not NameKind.QUOTED)


def dated_names(question: str, dates: Sequence[tuple[int, int]], known: Sequence[Nameable]) -> list[tuple[int, int]]:
    """The characters [start, end) of known whole names that contain a date and more: "Euro 2024"."""
    names = {folded_name(name) for each in known for name in each.names}
    return [
        (run.start, run.end)
        for run in runs(question)
        if any(run.start <= start and end <= run.end and end - start < len(run.written) for start, end in dates)
        and folded_name(run.name) in names
    ]


FITS: Final = 0.9
"""The probability of a name that fits only one entity, as in ingest."""
LIKE: Final = 0.65
"""Least similarity of names of several words that count as equal: one typing error in two usual words."""
MAX_LOOKED_UP: Final = 16
"""Most names of one question that are looked up in other forms, or by similarity."""
NAMESAKES: Final = 5
"""A form that fits more entities than this names none of them."""


MISSPELT: Final = 0.8
"""The probability of the only entity of which one letter makes a written word."""
SHORTEST: Final = 5
"""Letters of a word that may be misspelt."""
SURE: Final = 8
"""Letters of a word that is hardly another one if one of them is wrong: "strike" is not Stripe."""
MAX_MISSPELT: Final = 3
"""Most words of a question that are not written as names, and looked up as misspelt ones."""


def unlinked(question: Sequence[Token], written: Sequence[Named], linked: Linked, wording: Wording) -> list[Named]:
    """Written names, and nicknames that are not ordinary words of the scope, that were not linked."""
    nicknames = [
        Named(text=token.written, start=token.start, end=token.end, kind=NameKind.PROPER_NOUN)
        for token in question
        if is_nickname(token.text) and token.text not in STOP_WORDS and not wording.telling.get(token.text, 0)
    ]
    others = [each for each in nicknames if not overlapping(each.start, each.end, written)]
    return [*unknown_names([*written, *others], linked)]


def strange_words(question: Sequence[Token], linked: Linked, familiar: Callable[[str], bool]) -> list[Named]:
    """Words that may be a misspelt name although they are not written as names, if the question names nothing else.

    They occur nowhere in the scope: no word for which ``familiar`` holds is among them.
    """
    if linked.links:
        return []
    return [
        Named(text=token.text, start=token.start, end=token.end, kind=NameKind.PROPER_NOUN, tentative=True)
        for token in question
        if len(token.text) >= SHORTEST and token.text not in STOP_WORDS and not familiar(token.text)
    ][:MAX_MISSPELT]


def misspellings(word: str) -> frozenset[str]:
    """The words that a written word may be a misspelling of: long enough ones, unless it is a given name."""
    if len(word) < SHORTEST or not word.isalpha() or is_given_name(word):
        return frozenset()
    return frozenset(each for each in one_letter_off(word) if len(each) >= SHORTEST)


async def with_other_forms(
    question: Sequence[Token], names: Sequence[Named], linked: Linked, reader: Reader
) -> tuple[Linked, Hits | None]:
    """Links with those of names in other forms, and the entities that were considered for them."""
    if not names:
        return linked, None
    words = {
        name: frozenset(
            (
                *reading.lookups(reading.TypedName(name.text, ""))[0],
                *reading.form_lookups(reading.read(name.text, "person")),
                *misspellings(fold(name.text)),
            )
        )
        for name in names[:MAX_LOOKED_UP]
    }
    found = await by_words(sorted({word for each in words.values() for word in each}), reader)
    ids = sorted({match.entity_id for match in found})
    others = await _held(ids, reader)
    links = await aside(
        lambda: [one for name in words for one in links_of(name, _called(others.nameable, words[name]))], others.size
    )
    masked = [
        part or any(each.start <= token.start and token.end <= each.end for each in links)
        for token, part in zip(question, linked.masked, strict=True)
    ]
    return Linked(links=(*linked.links, *links), masked=tuple(masked)), others.hits


def _called(known: Sequence[Nameable], words: frozenset[str]) -> list[Nameable]:
    """The entities with one of some words in a name, each with its first `MAX_COMPARED` names that have one."""
    found = []
    for each in known:
        names = (name for name in each.names if not words.isdisjoint(name_words(name)))
        if some := tuple(islice(names, MAX_COMPARED)):
            found.append(Nameable(id=each.id, type=each.type, names=some))
    return found


def links_of(name: Named, known: Sequence[Nameable]) -> list[Link]:
    """The entities that a name means in another form, less probable the more there are; none if too many.

    A name that is like none may be one misspelt word: then it means the only entity that has the word.
    """
    sure = {} if name.tentative else {each.id: value for each in known if (value := likeness(name.text, each))}
    if not sure and len(meant := _misspelt(name, known)) == 1:
        sure = dict.fromkeys(meant, MISSPELT)
    most = max(sure.values(), default=0.0)
    best = [each for each in known if most and sure.get(each.id) == most]
    if len(best) > NAMESAKES:
        return []
    return [
        Link(
            entity_id=each.id,
            kind=each.type,
            probability=sure[each.id] / math.sqrt(len(best)),
            start=name.start,
            end=name.end,
            full=False,
            alias=True,
        )
        for each in best
    ]


def _misspelt(name: Named, known: Sequence[Nameable]) -> list[UUID]:
    """The entities with a word in a name that a written word misspells; none if it is the right spelling of any.

    What is not written as a name may be any word: then names of one word count, and of persons; a plural is none of
    them, and a wrong letter must be one of many. Of persons only a `slip` counts: "Marta" is not Maria.
    """
    written, plain = fold(name.text), name.tentative
    made = misspellings(written)
    if plain:
        made = frozenset(
            word
            for word in made
            if word != written.removesuffix("s")
            and (len(written) >= SURE or len(word) != len(written) or sorted(word) == sorted(written))
        )
    found = []
    for each in known:
        names = [spoken_words(name) for name in each.names]
        words = {word for own in names if len(own) == 1 or not plain or each.type == "person" for word in own}
        if any(written in own for own in names):
            return []
        if is_comparable(each.type) and any(
            word in made and (each.type != "person" or slip(written, word)) for word in words
        ):
            found.append(each.id)
    return found


def likeness(written: str, entity: Nameable) -> float:
    """The probability that a name is a form of an entity's: `FITS`, or the similarity if at least `LIKE`; else 0."""
    kind = reading.known_type(entity.type)
    given = is_given_name(written.split(maxsplit=1)[0].casefold())
    kinds = (kind, "person") if given else (kind,)
    readings = [(reading.read(written, each), [reading.read(name, each) for name in entity.names]) for each in kinds]
    if any(
        is_same(form, name) or is_part(form, name) or is_misspelt(form, name)
        for form, names in readings
        for name in names
    ):
        return FITS
    plain, names = reading.read(written, ""), [reading.read(name, "") for name in entity.names]
    alike = [
        similarity(folded_name(plain.shown), folded_name(name.shown))
        for name in names
        if len(name.words) == len(plain.words) > 1 and name.numbers == plain.numbers
    ]
    best = max(alike, default=0.0)
    return best if best >= LIKE else 0.0


# until modes and recall have moved


async def time_asked(
    question: str, now: datetime, snapshot: Callable[[], AbstractAsyncContextManager[Reader]]
) -> AskedTime:
    """The time that a question asks about; a date that is part of a name of the snapshot does not count."""
    time = asked_time(question, now)
    if not time.spans:
        return time
    async with snapshot() as reader:
        found = await look_up(question, tokens(question), reader)
        return asked_time(question, now, dated_names(question, time.spans, found.nameable))


async def nameable(ids: Sequence[UUID], reader: Reader) -> Sequence[Nameable]:
    """As `_held`."""
    return (await _held(ids, reader)).nameable
