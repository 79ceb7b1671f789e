"""Facts and entities as they are given in text: JSON objects, lines of fields, and which memory they are stated of."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid5

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.sources.fields import Shape, read_each, read_fields
from graphsearch.model import Fact, FactReport, Memory, NamedEntity
from graphsearch.model import validation as check
from graphsearch.model.codec import decode
from graphsearch.model.identity import snake_case
from graphsearch.text.rendering import safe_text

FACT: Final = tuple(field.name for field in attrs.fields(Fact))
ENTITY: Final = tuple(field.name for field in attrs.fields(NamedEntity))

_NOTE: Final = UUID("0d1f6c1e-52d9-5c0b-8f0a-3b8f5f0a7c11")
_LINE: Final = "subject | relation | object | since … | until … | ended | “quote”"
_DATE: Final = re.compile(r"(since|until)[ :](.+)", re.IGNORECASE | re.DOTALL)
_QUOTE: Final = re.compile(r"(?:quote[ :])?[\"“„«](.+)[\"”“»]|quote[ :](.+)", re.IGNORECASE | re.DOTALL)
_TRUTHS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_WORD: Final = re.compile(r"\w+")


def words_between_commas(value: str) -> list[str]:
    """The parts of a text between its commas."""
    return [part for each in value.split(",") if (part := each.strip())]


_SHAPES: Final[Mapping[str, Shape]] = {
    "ended": (lambda value: decode(bool, _TRUTHS.get(str(value).casefold(), value)), "true or false"),
    "aliases": (lambda value: words_between_commas(value) if isinstance(value, str) else value, "a list of texts"),
    **dict.fromkeys(("since", "until"), (lambda value: str(value) if type(value) is int else value, "a date")),
}


def read_fact(given: object) -> Fact:
    """A fact from a JSON object with the fields of `Fact`, or from a line ``subject | relation | object | since …``.

    A `Fact` is one. Raises `InvalidInputError` with every fault.
    """
    if isinstance(given, Fact):
        return given
    given = _fields_of_line(given) if isinstance(given, str) else given
    return Fact(**{"object": "", **read_fields("fact", given, FACT, *FACT[:2], shapes=_SHAPES)})


def read_entity(given: object) -> NamedEntity:
    """An entity from a JSON object with the fields of `NamedEntity`, or a line ``name | type | alias, alias``.

    A `NamedEntity` is one. Raises `InvalidInputError` with every fault.
    """
    if isinstance(given, NamedEntity):
        return given
    if isinstance(given, str):
        parts = [part.strip() for part in given.split("|")]
        if len(parts) > len(ENTITY):
            raise InvalidInputError("entity", [f"{given!r} must be: name | type | alias, alias | description"])
        given = {name: part for name, part in zip(ENTITY, parts, strict=False) if part}
    return NamedEntity(**read_fields("entity", given, ENTITY, *ENTITY[:2], shapes=_SHAPES))


def read_stated(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a memory, with its ``facts`` and ``entities`` read. Raises `InvalidInputError` with every fault."""
    read, faults = dict(fields), []
    for field, reader in (("facts", read_fact), ("entities", read_entity)):
        given = () if fields.get(field) is None else fields[field]
        if not isinstance(given, list | tuple):
            faults.append(f"{field} must be a list, not {type(given).__name__}")
            continue
        found, wrong = read_each(((f"{field}[{at}]", each) for at, each in enumerate(given)), reader)
        faults += wrong
        if found or field in read:
            read[field] = tuple(found)
    check.refuse("memory", *faults)
    return read


def _fields_of_line(line: str) -> dict[str, Any]:
    parts = [part.strip() for part in line.split("|")]
    fields: dict[str, Any] = {name: part for name, part in zip(FACT[:3], parts, strict=False) if part}
    faults = []
    for part in parts[3:]:
        if date := _DATE.fullmatch(part):
            fields[date[1].lower()] = date[2].strip()
        elif quote := _QUOTE.fullmatch(part):
            fields["quote"] = (quote[1] or quote[2]).strip()
        elif part.casefold() == "ended":
            fields["ended"] = True
        elif part:
            faults.append(f"{part!r} is neither since …, until …, ended nor a quote in quotation marks")
    if len(parts) < len(FACT[:3]):
        faults.append(f"{line!r} must be: {_LINE}")
    check.refuse("fact", *faults)
    return fields


# -- the memories that they are stated of -----------------------------------------------------------------------------


def note_id(*parts: object) -> str:
    """The id of a note that has none, made of what it says."""
    return f"note:{uuid5(_NOTE, json.dumps([str(part) for part in parts]))}"


def of_now(notes: Iterable[Memory], known: Mapping[str, Memory], now: datetime) -> list[Memory]:
    """Notes with a time: one without it has that of the ``known`` memory of its id, and a new one is of ``now``."""
    times = {id_: each.occurred_at for id_, each in known.items()}
    return [attrs.evolve(each, occurred_at=each.occurred_at or times.get(each.id, now)) for each in notes]


def text_of(facts: Iterable[Fact], entities: Iterable[NamedEntity] = ()) -> str:
    """The text of a memory of which nothing but facts and entities is given: what they state, with their quotes."""
    named = (f"{each.name}: {each.description or each.type}." for each in entities)
    return "\n".join(dict.fromkeys((*map(_sentence, facts), *named)))


def _sentence(fact: Fact) -> str:
    dates = ((word, getattr(fact, word)) for word in ("since", "until"))
    written = (f"{word} {date.isoformat() if isinstance(date, datetime) else date}" for word, date in dates if date)
    parts = (fact.subject, fact.relation, fact.object, *written, "(ended)" if fact.ended else "")
    said = " ".join(part.strip() for part in parts if part)
    return f'{said}: "{fact.quote}"' if fact.quote else f"{said}."


def state(
    memories: Sequence[Memory], facts: Sequence[Fact], entities: Sequence[NamedEntity], known: Container[str] = ()
) -> list[Memory]:
    """Memories with facts and entities that are stated of all of them together, each with the one that proves it.

    That is the one with the most words of the fact's quote, else of its ends, the last of several; of an entity, the
    first that has its name. Where some are new, it is one of these: what is stated of a ``known`` one takes the place
    of what was. Raises `InvalidInputError` if there is no memory.
    """
    check.refuse("facts", None if memories or not (facts or entities) else "there is no text that they are stated of")
    words = [{*_words(f"{each.speaker} {each.subject} {each.text}")} for each in memories]
    new = [at for at, each in enumerate(memories) if each.id not in known] or range(len(memories))
    of: dict[int, tuple[list[Fact], list[NamedEntity]]] = {at: ([], []) for at in new}
    for fact in facts:
        sought = {*_words(fact.quote or f"{fact.subject} {fact.object}")}
        of[max(new, key=lambda at: (len(sought & words[at]), at))][0].append(fact)
    for entity in entities:
        sought = {*_words(entity.name)}
        of[max(new, key=lambda at: (len(sought & words[at]), -at))][1].append(entity)
    return [
        attrs.evolve(each, facts=(*each.facts, *of[at][0]), entities=(*each.entities, *of[at][1])) if at in of else each
        for at, each in enumerate(memories)
    ]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


# -- what became of them ----------------------------------------------------------------------------------------------


def outcome_lines(facts: Sequence[Fact], reports: Iterable[FactReport], unwritten: Iterable[Memory] = ()) -> list[str]:
    """What became of each fact, by its number from 1, in few words that are safe to show.

    ``unwritten`` are the memories that were left out: they repeat what was shown, or were not read.
    """
    found = dict.fromkeys((fact for memory in unwritten for fact in memory.facts), "not written")
    found |= {each.fact: outcome(each) for each in reports}
    return [f"{at} {found.get(fact, 'known')}" for at, fact in enumerate(facts, start=1)]


def outcome(report: FactReport) -> str:
    """What became of a fact, in a line: how it was understood if that is not as it was stated, and what it lacks."""
    fact, held, about = report.fact, report.held, ", ".join(map(safe_text, report.about))
    parts = [f"{report.status.value} {about}".strip()]
    if held and held != (fact.subject, snake_case(fact.relation), fact.object):
        source, type_, target = map(safe_text, held)
        parts.append(f"as {source} --{type_}--> {target}")
    if held and not report.mapped:
        parts.append("relation in your words")
    if held and not report.grounded:
        parts.append("not grounded")
    return "; ".join((*parts, safe_text(report.why)) if report.why else parts)
