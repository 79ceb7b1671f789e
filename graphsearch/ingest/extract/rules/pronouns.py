"""What "he", "her" and "its" stand for, where that is plain: one name alone can be meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from graphsearch.ingest.extract.rules.pattern_rows import BACKER, BOSS, EMPLOYING, HEAD, HOME, MAKER, MATE, REPORT
from graphsearch.text.found_names import Found

POSSESSIVE: Final = "possessive"
PRONOUN: Final = "pronoun"
PLACE: Final = "there"
REACH: Final = 3
"""Sentences back to the one that names what a pronoun stands for."""

_PRONOUN: Final = re.compile(
    r"\b(?:(?P<person>[Hh](?:e|im|is|er)|[Ss]he)|(?P<thing>[Ii]ts?)|(?:(?:work|liv|mov)(?:s|e|es|ed|ing)?) "
    r"(?P<place>there))\b"
    r"(?!['’](?!s\b))"
)
# "his job" is nobody's name: only what relates somebody counts.
_HIS: Final = re.compile(
    rf"(?:his|her|its) (?=(?:new |current |old |own )*(?:{BOSS}|{REPORT}|{EMPLOYING}|{HOME}|{MATE}|{HEAD}|{BACKER}"
    rf"|{MAKER}"
    r"|(?:[a-z]+ )?members?|team)\b)",
    re.IGNORECASE,
)
_OWN: Final = re.compile(r"(?:his|its)\b|her (?=[a-z])", re.IGNORECASE)
# What stands before a pronoun that does something itself.
_SUBJECT: Final = re.compile(
    r"(?:[,;:.(-]|\b(?:and|but|so|because|since|that|as|when|where|now|then|while))\s*(?:[a-z]+ly\s)?$", re.IGNORECASE
)
# "Bo shouts at us, so I moved away from him": what is named before is not what does it.
_OTHER_SUBJECT: Final = re.compile(
    r"(?:[,;.]|\b(?:and|but|so|because|since))\s(?:[a-z]+\s){0,2}(?:I|i|we|you)\b[^,;]*$"
)
_HEAD: Final = re.compile(r"\s*(?:(?:and|but|so|also|well|yes|oh|ok|now|because|btw),?\s)*", re.IGNORECASE)
_CONFIDENCE: Final = 0.7


@attrs.frozen
class Mentioned:
    """A name of a sentence, what it is called in any spelling, and its type where that is known."""

    found: Found
    key: str
    type: str


def refers(text: str) -> bool:
    """Whether a text has any pronoun that may stand for a name."""
    return _PRONOUN.search(text) is not None


def pronouns(text: str, start: int, end: int, *, spoken: bool) -> Sequence[re.Match[str]]:
    """The pronouns in [start, end) of a text that may stand for a person or, where it is ``spoken``, for a thing.

    "It" in an article is mostly what the article is about, which need not be what the sentence before names.
    """
    return [match for match in _PRONOUN.finditer(text, start, end) if spoken or match["person"]]


def references(
    found: Sequence[re.Match[str]], names: Sequence[Mentioned], before: Sequence[Mentioned]
) -> Iterator[Found]:
    """Those of a sentence's pronouns that stand for one name, as names that count where a pattern relates them.

    ``names`` are those of the sentence, ``before`` of the one before it. What is named before the pronoun comes first;
    where that and the sentence before point at two, or "he" and "she" are both there, neither is meant.
    """
    genders = {"f" if match[0].casefold() in ("she", "her") else "m" for match in found if match["person"]}
    for match in found:
        if any(each.found.start <= _at(match) < each.found.end for each in names):
            continue
        personal = match["person"] is not None
        if personal and len(genders) > 1:
            continue
        only = _only_person if personal else _only_place if match["place"] else _only_thing
        named = [each for each in names if each.found.end <= _at(match)]
        if named and not _may_be_meant(match, named[-1]):
            named = named[:-1]  # "Devon Grain is sponsoring it": whoever does it is another
        here, there = only(named), only(before)
        several = here is None and any((each.type == "person") == personal for each in named) and not match["place"]
        if several or (here and there and here.key != there.key):
            continue
        meant = here or there
        owning = _HIS.match(match.string, _at(match)) is not None
        if meant and (owning or not _OWN.match(match.string, _at(match))):
            yield Found(
                start=_at(match),
                end=match.end(),
                type="person" if personal else meant.type,
                confidence=_CONFIDENCE,
                pattern=POSSESSIVE if owning else PLACE if match["place"] else PRONOUN,
                tentative=True,
                refers=meant.found.refers or meant.found,
            )


def _may_be_meant(match: re.Match[str], last: Mentioned) -> bool:
    """Whether a pronoun may stand for the last name before it: not where that does something to it."""
    start, end = last.found.end, _at(match)
    return any(rule.search(match.string, start, end) is not None for rule in (_SUBJECT, _OTHER_SUBJECT))


def goes_on(text: str) -> bool:
    """Whether a text begins with "it"."""
    head = _HEAD.match(text)
    return head is not None and text[head.end() : head.end() + 2].lower() == "it"


def starts(match: re.Match[str], start: int) -> bool:
    """Whether a pronoun stands at the head of a text that begins at ``start``, as what it speaks of."""
    return match["thing"] is not None and _HEAD.fullmatch(match.string, start, match.start()) is not None


def _at(match: re.Match[str]) -> int:
    """Where the pronoun stands: "there" comes with its verb."""
    return match.start("place") if match["place"] else match.start()


def _only_person(names: Sequence[Mentioned]) -> Mentioned | None:
    """The one that is known to be a person."""
    people = {each.key: each for each in names if each.type == "person"}
    return next(iter(people.values())) if len(people) == 1 else None


def _only_thing(names: Sequence[Mentioned]) -> Mentioned | None:
    """The one name that is no person's, date's or place's."""
    things = {each.key: each for each in names if each.type not in ("person", "place", "date")}
    return next(iter(things.values())) if len(things) == 1 else None


def _only_place(names: Sequence[Mentioned]) -> Mentioned | None:
    """The one name that somebody may work at, live in or move to."""
    places = {each.key: each for each in names if each.type not in ("person", "date", "tool", "project")}
    return next(iter(places.values())) if len(places) == 1 else None


def stand_in(character: str, found: Found, text: str) -> str:
    """What stands in a skeleton for a name or a pronoun: "there" brings its preposition."""
    if found.pattern == POSSESSIVE:
        return f"{character}'s"
    if found.pattern == PLACE:
        verb = text[: found.start].rsplit(None, 1)[-1].casefold()
        return f"{'to' if verb.startswith('mov') else 'in' if verb.startswith('liv') else 'at'} {character}"
    return character
