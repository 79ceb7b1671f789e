"""A stated fact, read: its ends, what its phrase states of them, and its dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Final

import attrs

from graphsearch.ingest.frames.table import folded, tokens, words
from graphsearch.ingest.stating.dates import is_date, read_date
from graphsearch.ingest.stating.ends import VALUED, find_ends, is_copular, is_pronoun, is_role, is_state
from graphsearch.ingest.stating.phrases import NONE, NOTHING, Kind, Phrase, read_phrase
from graphsearch.ingest.stating.scope import End, Scope
from graphsearch.model import Fact, Memory
from graphsearch.model.identity import snake_case

_NOT: Final = re.compile(r"(not|no longer|never) ", re.IGNORECASE)
_ALSO: Final = re.compile(r"\b(?:also|too|as well|additionally|second)\b", re.IGNORECASE)


class RefusalError(Exception):
    """A fact states nothing that can be written; the message says why."""


@attrs.frozen
class Reading:
    """A fact as it was read. Without ``objects`` it speaks of all that stands; ``unread`` says what is no date."""

    phrase: Phrase
    subjects: Sequence[End]
    objects: Sequence[End]
    role: str = ""
    since: datetime | None = None
    until: datetime | None = None
    unread: tuple[str, ...] = ()
    also: bool = False
    """Whether it is stated to hold beside what holds."""


def is_alias(fact: Fact) -> bool:
    """Whether a fact states that two names are one."""
    given = tokens(fact.relation)
    soft = words("soft") | words("be") | words("have") | words("determiners")
    plain = " ".join(each for each in given if each not in soft)
    return not words("aliases").isdisjoint((plain, " ".join(given)))


def read_fact(fact: Fact, memory: Memory, scope: Scope, own: AbstractSet[str], last: datetime | None) -> Reading:
    """Read a fact; ``own`` are types of the scope's own, ``last`` is the date stated before.

    Raises `RefusalError` if it states nothing: a wish, a plan without a date, of somebody unknown.
    """
    denial = _NOT.match(fact.object)
    written = fact.object[denial.end() :] if denial else fact.object
    subjects, _ = find_ends(fact.subject, memory, fact.subject_type, scope)
    objects: Sequence[End] = ()
    role = ""
    if written.strip():
        objects, role = find_ends(written, memory, fact.object_type, scope, relation=fact.relation)
    demand_names((*subjects, *objects))
    object_ = objects[0] if objects else End("", None, Kind(NONE))
    relation = f"{role} of" if role else fact.relation
    if object_.name is None and object_.written.islower() and is_copular(relation) and is_role(object_.written):
        relation = "role"  # "is our stage manager"
    phrase = _phrase(relation, subjects[0].kind, object_, own)
    if not (phrase.type or snake_case(phrase.normal)):
        raise RefusalError("its relation has no words")
    if fact.ended or (denial and denial[1].casefold() == "no longer"):
        phrase = attrs.evolve(phrase, cues=phrase.cues | {"ended"})
    elif denial:
        phrase = attrs.evolve(phrase, cues=phrase.cues | {"denied"})
    also = _ALSO.search(fact.relation) is not None
    reading = _dated(fact, Reading(phrase, subjects, objects, role, also=also), memory, scope, last)
    if "denied" in phrase.cues and phrase.frame.phase == "closes":
        raise RefusalError("a denial is no fact")
    if "wished" in phrase.cues:
        raise RefusalError("a wish")
    if "planned" in phrase.cues and not (reading.since or reading.until) and not phrase.closes:
        raise RefusalError("a plan without a date")
    return reading


def demand_names(ends: Sequence[End]) -> None:
    """Refuse ends that name nothing, or nobody who is known."""
    for each in ends:
        if not any(letter.isalnum() for letter in each.written):
            raise RefusalError("it is no name")
        if words("vague") & set(folded(each.written).split()[:1]):
            raise RefusalError("it names nothing")
        if each.name is None and is_pronoun(each.written):
            raise RefusalError(f"it is not known whom {each.written!r} means")


def _phrase(relation: str, subject: Kind, object_: End, own: AbstractSet[str]) -> Phrase:
    """Read a phrase between two ends; of an object in lower case that no name is, also as a value."""
    phrase = read_phrase(relation, subject, object_.kind, own)
    if not phrase.type and object_.name is None:
        valued = read_phrase(relation, subject, VALUED, own)
        if valued.noun and not valued.inverse and valued.frame.target == "v" and not valued.left:
            return valued
    if phrase.type == "has_status" and not phrase.noun and not is_state(object_.written):
        return attrs.evolve(phrase, frame=NOTHING)
    return phrase


def _dated(fact: Fact, reading: Reading, memory: Memory, scope: Scope, last: datetime | None) -> Reading:
    """A reading with its dates, of which one may be its object: "last day at Acme | 29 november"."""
    phrase, objects, at = reading.phrase, reading.objects, memory.occurred_at
    ahead = "planned" in phrase.cues or (phrase.frame.phase == "closes" and not phrase.is_past) or None
    since = read_date(fact.since, at, ahead=ahead, last=last)
    until = read_date(fact.until, at, ahead=not phrase.is_past or None, last=last)
    given = (fact.since, since), (fact.until, until)
    unread = tuple(
        f"{each!r} is no date{'' if at else ' where the time of its memory is unknown'}"
        for each, found in given
        if each and not found
    )
    value = objects[0].written if objects and objects[0].is_value else ""
    day = read_date(value, at, ahead=ahead, last=last) if value and is_date(value) else None
    state = next((each for each in words("statuses") if [each] == tokens(fact.relation)), "")
    if day and phrase.type and (phrase.left or phrase.closes):
        since, until = (since, until or day) if phrase.closes else (since or day, until)
        named = " ".join(phrase.left)
        start = folded(fact.relation).find(named)
        named = fact.relation[start : start + len(named)] if start >= 0 else named
        objects = find_ends(named, memory, None, scope)[0] if named else ()
    elif state and not phrase.type and (day or not objects):  # "churned | 1 May"
        objects, since = [End(state, None, VALUED)], since or day
        phrase = attrs.evolve(phrase, frame=attrs.evolve(NOTHING, type="has_status", phase="opens"))
    if phrase.closes and not fact.ended and since and not until:
        since, until = None, since
    if since and until and until <= since:
        raise RefusalError("it ends before it begins")
    return attrs.evolve(reading, phrase=phrase, objects=objects, since=since, until=until, unread=unread)
