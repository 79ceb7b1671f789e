"""Assembly of the extraction result of one memory from its sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from graphsearch.ingest.extract.rules.corrections import Amendment, amended, claims
from graphsearch.ingest.extract.rules.masked_sentence import MAX_NAMES
from graphsearch.ingest.extract.rules.pronouns import REACH
from graphsearch.ingest.extract.rules.read_sentences import ReadSentence, TextNames
from graphsearch.ingest.extract.rules.relating import CO_OCCURS, FoundRelation
from graphsearch.ingest.extract.rules.speakers import name_key
from graphsearch.model import Memory, Span
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, Statement, fact_in


def assembled(
    memory: Memory,
    names: TextNames,
    context: Sequence[ExtractedName],
    speaker: ExtractedName | None,
    sentences: Sequence[ReadSentence],
) -> tuple[ExtractedMemory, Amendment | None]:
    """The content of a memory, and its correction of earlier memories; ``context`` are its speaker and subject."""
    surfaces = [names.typed(surface) for surface in context]
    stated: list[list[Statement]] = []
    pending: Amendment | None = None
    for sentence, numbered in zip(sentences, _certain_surfaces(sentences, names, speaker), strict=True):
        surfaces += [
            numbered[at]
            for at, each in enumerate(sentence.names)
            if at in numbered and (not each.antecedent or each.antecedent.outside_name)
        ]
        surfaces += [names.surface(each) for each in sentence.found if each.type == "date"]
        own = [_statement(relation, numbered, memory, sentence.span) for relation in sentence.related]
        denied = tuple(_statement(relation, numbered, memory, sentence.span) for relation in sentence.denied)
        amendment = _amendment(sentence, names, numbered, own)
        before = next((each for each in reversed(stated[-REACH:]) if claims(each)), None)
        if amendment and before:
            before[:] = _extended(amended(before, amendment, name_key), before, memory, names, sentence.span.end)
        elif amendment or denied:
            pending = attrs.evolve(amendment or pending or Amendment(span=sentence.span), denied=denied)
        stated.append(own)
    result = ExtractedMemory(
        memory_id=memory.id,
        surfaces=tuple(sorted(surfaces, key=lambda surface: surface.span.start + 1 if surface.span else 0)),
        statements=_distinct(each for several in stated for each in several),
        same=tuple((each.short, each.full) for each in names.conversation.declared.get(memory.id, ())),
    )
    return _retyped(result, names) if any(sentence.correction for sentence in sentences) else result, pending


def _certain_surfaces(
    sentences: Sequence[ReadSentence], names: TextNames, speaker: ExtractedName | None
) -> list[dict[int, ExtractedName]]:
    """The surfaces of each sentence by number: those of certain names, and of names that something relates."""
    numbered = [sentence.names for sentence in sentences]
    confirmed: set[str] = set()
    for sentence, found in zip(sentences, numbered, strict=True):
        ends = sentence.supposed | {
            end for each in (*sentence.related, *sentence.denied) for end in (each.source, each.target)
        }
        confirmed |= {names.key(found[end]) for end in ends if end < len(found)}
    kept = []
    for found in numbered:
        surfaces = {
            number: names.surface(each)
            for number, each in enumerate(found)
            if not each.tentative or names.key(each) in confirmed
        }
        if speaker:
            surfaces[min(len(found), MAX_NAMES - 1)] = names.typed(speaker)
        kept.append(surfaces)
    return kept


def _statement(relation: FoundRelation, surfaces: Mapping[int, ExtractedName], memory: Memory, span: Span) -> Statement:
    return Statement(
        source=surfaces[relation.source],
        type=relation.type,
        target=surfaces[relation.target],
        confidence=relation.confidence,
        kind=relation.kind,
        valid_from=relation.valid_from,
        valid_to=relation.valid_to,
        fact=fact_in(memory, span),
        span=span,
        pattern=relation.pattern,
    )


def _amendment(
    sentence: ReadSentence, names: TextNames, numbered: Mapping[int, ExtractedName], own: Sequence[Statement]
) -> Amendment | None:
    """The correction made by a sentence with its names and statements; None if there is none."""
    what = sentence.correction
    if what is None or (what.again and not claims(own)):
        return None
    return Amendment(
        correction=what,
        meant=None if what.meant is None else numbered.get(what.meant),
        wrong="" if what.wrong is None else names.written(sentence.names[what.wrong]),
        again=tuple(claims(own)),
        span=sentence.span,
    )


def _extended(
    stated: Sequence[Statement], before: Sequence[Statement], memory: Memory, names: TextNames, end: int
) -> list[Statement]:
    """Extend the spans of new statements to ``end``: a corrected statement is proven by both sentences."""
    known = {id(each) for each in before}
    found = []
    for each in stated:
        if id(each) in known:
            found.append(each)
            continue
        for name in (each.source, each.target):
            names.types.setdefault(name_key(name.name), name.type)
        span = Span(start=each.span.start, end=end)
        found.append(attrs.evolve(each, span=span, fact=fact_in(memory, span)))
    return found


def _distinct(stated: Iterable[Statement]) -> tuple[Statement, ...]:
    """The first of equal statements; co-occurrences have no direction and count only for otherwise unrelated names."""
    statements: dict[tuple[object, ...], Statement] = {}
    for each in stated:
        ends = name_key(each.source.name), name_key(each.target.name)
        period = (each.valid_from, each.valid_to)
        pair = (frozenset(ends), None, None) if each.type == CO_OCCURS else (ends, each.type, period)
        statements.setdefault(pair, each)
    related = {
        frozenset((name_key(each.source.name), name_key(each.target.name)))
        for each in statements.values()
        if each.type != CO_OCCURS
    }
    return tuple(each for pair, each in statements.items() if each.type != CO_OCCURS or pair[0] not in related)


def _retyped(result: ExtractedMemory, names: TextNames) -> ExtractedMemory:
    """Update the types of names that a correction introduced."""
    return attrs.evolve(
        result,
        surfaces=tuple(map(names.typed, result.surfaces)),
        statements=tuple(
            attrs.evolve(each, source=names.typed(each.source), target=names.typed(each.target))
            for each in result.statements
        ),
    )
