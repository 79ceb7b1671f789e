"""Names that the words beside them show to be of people: "Maren said", "met Ilse", "Priya leads the audit".

Such words are weaker evidence than what `graphsearch.text.name_spans` goes by, since firms and countries are spoken of
as people, too: it gives a type only to names that nothing else gives one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from graphsearch.ingest.extract.rules.conversation import name_key
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory, ExtractedName
from graphsearch.names.given_names import is_given_name
from graphsearch.names.known_tools import FIRMS
from graphsearch.text import word_lists as known
from graphsearch.text.name_spans import NameSpan, is_coined
from graphsearch.text.word_lists import word_set

PERSON: Final = "person"
_CONFIDENCE: Final = 0.85
_LONGEST: Final = 3
"""Maximum words of a name that only the words beside it show to be a person's."""
_ADVERB: Final = "(?:also |just |then |always |never |still |once |already |later |[a-z]+ly |has |had )?"
_SAYS: Final = (
    "said|says|told|tells|asked|asks|replied|replies|answered|mentioned|mentions|insisted|insists|complained|joked|jokes"
    "|shouted|whispered|muttered|thinks|thought|believes|reckons|knows|knew|hopes|hoped|feels|felt|likes|liked|loves|loved"
    "|hates|hated|prefers|preferred|promised|remembers|remembered|forgot|apologised|apologized|retired|testified|resigned"
    "|sat|slept|woke|ate|drank|nodded|smiled|laughed|cried|sighed|waved|spoke|speaks|phoned|texted|emailed"
)
# The object follows at once: "Priya leads the night audit", but "leads to" and "sales leads were".
_LEADS: Final = "(?:leads|heads|chairs|supervises|oversees|coaches|mentors|captains) (?:the|our|an?|my|their|his|her)"
_BEFALLS: Final = (
    "(?:(?:was|got|has been) (?:promoted|hired|fired|sacked|laid off|made redundant|suspended|appointed|elected|widowed"
    "|hospitalised)"
    "|left (?:in|on|last|early|yesterday|this|us\\b|the (?:band|company|firm|school|team)\\b))"
)
_AFTER: Final = re.compile(
    rf" (?:{_ADVERB}(?:(?:{_SAYS}|{_BEFALLS})\b|{_LEADS} )|is (?:married|engaged|widowed)\b|\((?:she|he|they)[/)])"
)
_WITH: Final = (
    "(?:met|meet|meets|meeting|spoke|speak|speaking|talked|talk|talking|chatted|lunch|dinner|coffee|breakfast"
    "|drinks|a drink"
    "|caught up|catch up|catching up) (?:up )?(?:with|to)"
)
_POST: Final = (
    "(?:CEO|CFO|CTO|COO|CIO|CMO|chief executive|chair(?:man|woman|person)?|(?:managing )?director|president|headteacher"
    "|head teacher|captain|skipper|editor|foreman|matron|principal|accountant|lawyer|solicitor|nurse|surgeon|vet|intern"
    "|apprentice|receptionist|secretary|landlady|deputy|successor|predecessor|manager|supervisor|engineer|developer"
    "|architect|designer|maintainer|lead|leader)"
)
_CALLING: Final = (
    "barrister|solicitor|paralegal|registrar|nurse|midwife|surgeon|vet|plumber|electrician|gardener|nanny|babysitter"
    "|carpenter|caretaker|chef|cleaner|cook|dentist|doctor|farmer|joiner|journalist|librarian|mason|paramedic|pharmacist"
    "|photographer|physiotherapist|teacher|waiter|waitress|welder"
    "|deputy|intern|apprentice|receptionist|secretary|headteacher|landlady"
)
"""What a person alone is, so that no comma need follow: "our paralegal Finn", but "our editor, Finn"."""
_APPOSED: Final = re.compile(
    rf"(?:,| \() ?(?:the|our|my|their|his|her)(?: new| former| current)? (?:{_POST}|{_CALLING})\b"
)
_BEFORE: Final = re.compile(
    r"\b(?:(?:married to|engaged to|met|meet|thanked|thank|phoned|emailed|texted|married|hugged|invited"
    r"|interviewed|introduced|congratulated|remind|reminded) (?:both )?"
    r"|\b(?:[Mm]y|[Hh]is|[Hh]er|[Oo]ur|[Tt]heir) (?:[a-z-]+ )?(?:friend|colleague|boss|manager|sister|brother|wife"
    r"|husband|partner|son|daughter|mother|father|uncle|aunt|cousin|flatmate|roommate|neighbour|neighbor|mentor"
    rf"|assistant|doctor|teacher|coach|{_CALLING})(?:,|(?<!partner)(?:['’]s| is| was))? "
    r"|\b[Hh](?:is|er) name(?:['’]s| is| was) )$"
    rf"|(?:\b(?:[Mm]y|[Oo]ur|[Tt]he|[Hh]is|[Hh]er|[Tt]heir)|['’]s)(?: [a-z-]+){{0,2}} {_POST}(?: this [a-z]+)?"
    r"(?:['’]s| is| was|,) $"
)
_WITH_HIM: Final = re.compile(rf"\b{_WITH} $")
_WORKED_WITH: Final = re.compile(
    r"\b(?:work|works|worked|working|paired|collaborated) (?:closely )?(?:with|alongside) $"
)
_POSSESSIVE_END: Final = re.compile("(?:,|['’]s)$")
_REACH: Final = 40
"""Characters before a name that may show it to be a person's."""
# "Pavel owns the smokehouse and he built it"
_THEN_HE: Final = re.compile(r"(?:,? (?:and|but|so|because|since|while|when|where) |, )(?:he|she|her)\b")
_LAST_WORDS: Final = word_set(
    "is was alongside met meet thanked thank phoned emailed texted married hugged invited interviewed introduced "
    "congratulated remind reminded both with to name ceo cfo cto coo cio cmo executive chair chairman chairwoman "
    "chairperson director president captain skipper editor foreman matron principal accountant lawyer successor "
    "predecessor supervisor manager engineer developer architect designer maintainer lead leader friend colleague "
    "boss sister brother wife husband partner son daughter mother father uncle aunt cousin flatmate roommate "
    "neighbour neighbor mentor assistant coach"
) | word_set(_CALLING.replace("|", " "))
"""The last words before a name in `_BEFORE` and `_WITH_HIM`."""
_ABSTRACT: Final = ("ment", "tion", "ness", "ity", "ship", "ance", "ence", "ing", "ism", "ics")
"""Ends of nouns that may begin a sentence, and are no names of people."""


def shown_person(text: str, span: NameSpan, start: int, end: int) -> bool:
    """Whether the words beside a name of unknown type in the sentence [start, end) show that it is a person's."""
    written = text[span.start : span.end]
    shown = not span.antecedent and (_is_shown(text, span, start, end) or _is_given(written.split()))
    return shown and _may_be_person(written)


def _is_shown(text: str, span: NameSpan, start: int, end: int) -> bool:
    if _AFTER.match(text, span.end, end) or _APPOSED.match(text, span.end, end):
        return True
    before = max(start, span.start - _REACH)
    if (
        _POSSESSIVE_END.sub("", text[before : span.start].rpartition(" ")[0].rpartition(" ")[2]).casefold()
        in _LAST_WORDS
    ):
        if _BEFORE.search(text, before, span.start):
            return True
        if text.count(" ", span.start, span.end) < _LONGEST - 1 and _WITH_HIM.search(text, before, span.start):
            return True
        if is_given_name(text[span.start : span.end].partition(" ")[0].casefold()):
            return _WORKED_WITH.search(text, before, span.start) is not None
    if span.start != start or (text.find(" he", span.end, end) < 0 and text.find(" she", span.end, end) < 0):
        return False
    return _THEN_HE.search(text, span.end, end) is not None


def _is_given(words: Sequence[str]) -> bool:
    """Whether a name is a given name with one or two words after it that are no ordinary ones."""
    if not 1 < len(words) <= _LONGEST or not is_given_name(words[0].casefold()):
        return False
    return not any(word.casefold() in known.COMMON or not word.strip(".").isalpha() for word in words[1:])


def _may_be_person(written: str) -> bool:
    words = written.split()
    if len(words) > _LONGEST or not all(word[0].isupper() for word in words):
        return False
    key = words[0].casefold()
    return not (
        is_coined(written)
        or (written.isupper() and len(written) > 1)
        or key in FIRMS
        or (len(words) == 1 and (key in known.COMMON or key.endswith(_ABSTRACT)))
    )


# -- the user ---------------------------------------------------------------------------------------------------------

USER: Final = "user"
# "The user clicks a button" is about any user, but then nobody is configured as the user.
_USER: Final = re.compile(
    r"\b(?:[Tt]he user|User)(?=['’]s |[.,;:!?]|$| (?:and|or|to|in|on|at|with|from|for)\b| [a-z]+(?:s|ed|t)\b)"
)


def users(text: str, start: int, end: int, user: str) -> Iterator[NameSpan]:
    """Where the sentence [start, end) of a text speaks of "the user", whose name is given."""
    for match in _USER.finditer(text, start, end):
        yield NameSpan(
            start=match.start(), end=match.end(), type=PERSON, confidence=_CONFIDENCE, pattern=USER, outside_name=user
        )


# -- people of a conversation -----------------------------------------------------------------------------------------


def with_people(memories: Sequence[Memory], read: Sequence[ExtractedMemory]) -> list[ExtractedMemory]:
    """Give names of unknown type the type "person" where another memory of the session proves it, in linear time.

    The same name counts, and a first name or surname that one person alone has there; in other sessions the name may
    be anything.
    """
    found: list[ExtractedMemory] = [*read]
    sessions: dict[str, list[int]] = {}
    for number, memory in enumerate(memories):
        if memory.session_id:
            sessions.setdefault(memory.session_id, []).append(number)
    for numbers in sessions.values():
        people = _people(found[number] for number in numbers)
        for number in numbers if people else ():
            found[number] = _with_types(found[number], people)
    return found


def _people(read: Iterable[ExtractedMemory]) -> frozenset[str]:
    """The names of unknown type that are persons elsewhere, or part of the name of one person."""
    types: dict[str, set[str]] = {}
    for each in read:
        for surface in each.surfaces:
            types.setdefault(name_key(surface.name), set()).add(surface.type)
    bearers: dict[str, set[str]] = {}
    for key, found in types.items():
        words = [word for word in key.split() if word.rstrip(".") not in known.HONORIFICS]
        if PERSON in found and len(words) > 1:
            for word in {words[0], words[-1]}:
                bearers.setdefault(word, set()).add(key)
    return frozenset(
        key
        for key, found in types.items()
        if "" in found and (found == {"", PERSON} or (found == {""} and len(bearers.get(key, ())) == 1))
    )


def _with_types(extracted: ExtractedMemory, people: frozenset[str]) -> ExtractedMemory:
    changed = {
        each: attrs.evolve(each, type=PERSON)
        for each in extracted.surfaces
        if not each.type and name_key(each.name) in people
    }
    return _replaced(extracted, changed) if changed else extracted


def _replaced(extracted: ExtractedMemory, changed: Mapping[ExtractedName, ExtractedName]) -> ExtractedMemory:
    return attrs.evolve(
        extracted,
        surfaces=tuple(changed.get(each, each) for each in extracted.surfaces),
        statements=tuple(
            attrs.evolve(
                each, source=changed.get(each.source, each.source), target=changed.get(each.target, each.target)
            )
            for each in extracted.statements
        ),
    )
