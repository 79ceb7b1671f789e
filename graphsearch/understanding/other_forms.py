"""Names in other forms than the stored ones: nicknames, initials, handles, legal forms, typing errors.

Compared as ingest compares names (`graphsearch.names`), if nothing of the same spelling was found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from graphsearch.access.reader import Reader
from graphsearch.claims.naming import folded_name
from graphsearch.names import typed_names as reading
from graphsearch.names.candidate_index import lookups
from graphsearch.names.given_names import FORMAL_NAMES
from graphsearch.names.persons import is_nickname
from graphsearch.query.written_names import Named, NameKind
from graphsearch.text.terms import STOP_WORDS
from graphsearch.text.trigrams import similarity
from graphsearch.understanding.linking import Link, Linked, Nameable
from graphsearch.understanding.name_lookup import by_words, nameable
from graphsearch.understanding.question_tokens import Token
from graphsearch.understanding.understood import unknown_names
from graphsearch.understanding.wording import Wording

FITS: Final = 0.9
"""The probability of a name that fits only one entity, as in ingest."""
LIKE: Final = 0.65
"""Least similarity of names of several words that count as equal: one typing error in two usual words."""
NAMESAKES: Final = 5
"""A form that fits more entities than this names none of them."""


def unlinked(question: Sequence[Token], written: Sequence[Named], linked: Linked, wording: Wording) -> list[Named]:
    """Written names, and nicknames that are not ordinary words of the scope, that were not linked."""
    nicknames = [
        Named(text=token.written, start=token.start, end=token.end, kind=NameKind.PROPER_NOUN)
        for token in question
        if is_nickname(token.text) and token.text not in STOP_WORDS and not wording.telling.get(token.text, 0)
    ]
    others = [
        each for each in nicknames if not any(each.start < name.end and name.start < each.end for name in written)
    ]
    return [*unknown_names([*written, *others], linked)]


async def with_other_forms(
    question: Sequence[Token], names: Sequence[Named], linked: Linked, reader: Reader
) -> tuple[Linked, list[UUID]]:
    """Links with those of names in other forms, and the entities, visible or not, that were considered for them."""
    if not names:
        return linked, []
    words = {name: sorted(set(lookups(reading.TypedName(name.text, ""))[0])) for name in names}
    found = await by_words(sorted({word for each in words.values() for word in each}), reader)
    ids = sorted({match.entity_id for match in found})
    known = await nameable(ids, reader)
    links = [link for name in names for link in links_of(name, known)]
    masked = [
        part or any(link.start <= token.start and token.end <= link.end for link in links)
        for token, part in zip(question, linked.masked, strict=True)
    ]
    return Linked(links=(*linked.links, *links), masked=tuple(masked)), ids


def links_of(name: Named, known: Sequence[Nameable]) -> list[Link]:
    """The entities that a name means in another form, less probable the more there are; none if too many."""
    sure = {each.id: value for each in known if (value := likeness(name.text, each))}
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


def likeness(written: str, entity: Nameable) -> float:
    """The probability that a name is a form of an entity's: `FITS`, or the similarity if at least `LIKE`; else 0."""
    kind = reading.known_type(entity.type)
    given = written.split(maxsplit=1)[0].casefold() in FORMAL_NAMES
    kinds = (kind, "person") if given else (kind,)
    readings = [(reading.read(written, each), [reading.read(name, each) for name in entity.names]) for each in kinds]
    if any(form.same(name) or form.fits(name) or form.misspells(name) for form, names in readings for name in names):
        return FITS
    plain, names = reading.read(written, ""), [reading.read(name, "") for name in entity.names]
    alike = [
        similarity(folded_name(plain.shown), folded_name(name.shown))
        for name in names
        if len(name.words) == len(plain.words) > 1 and name.numbers == plain.numbers
    ]
    best = max(alike, default=0.0)
    return best if best >= LIKE else 0.0
