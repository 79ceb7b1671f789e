"""What a sentence leaves to its context: "he", "her" and "its", where only one name can be the antecedent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from graphsearch.ingest.extract.rules.templates import BACKER, BOSS, EMPLOYING, HEAD, HOME, MAKER, MATE, REPORT
from graphsearch.text.name_spans import NameSpan

POSSESSIVE: Final = "possessive"
PRONOUN: Final = "pronoun"
PLACE: Final = "there"
REACH: Final = 3
"""Maximum sentences between a pronoun and its antecedent."""

_PRONOUN: Final = re.compile(
    r"\b(?:(?P<person>[Hh](?:e|im|is|er)|[Ss]he)|(?P<thing>[Ii]ts?)|(?:(?:work|liv|mov)(?:s|e|es|ed|ing)?) "
    r"(?P<place>there))\b"
    r"(?!['’](?!s\b))"
)
# "his job" expresses no relation: only nouns of relations count.
_HIS: Final = re.compile(
    rf"(?:his|her|its) (?=(?:new |current |old |own ){{0,2}}(?:{BOSS}|{REPORT}|{EMPLOYING}|{HOME}|{MATE}|{HEAD}"
    rf"|{BACKER}|{MAKER}|(?:[a-z]+ )?members?|team)\b)",
    re.IGNORECASE,
)
_OWN: Final = re.compile(r"(?:his|its)\b|her (?=[a-z])", re.IGNORECASE)
# Words before a pronoun that is itself the subject of a verb.
_SUBJECT: Final = re.compile(
    r"(?:[,;:.(-]|\b(?:and|but|so|because|since|that|as|when|where|now|then|while))\s*(?:[a-z]+ly\s)?$", re.IGNORECASE
)
# "Bo shouts at us, so I moved away from him": the name before is not the subject.
_OTHER_SUBJECT: Final = re.compile(
    r"(?:[,;.]|\b(?:and|but|so|because|since))\s(?:[a-z]+\s){0,2}(?:I|i|we|you)\b[^,;]*$"
)
_HEAD: Final = re.compile(r"\s*(?:(?:and|but|so|also|well|yes|oh|ok|now|because|btw),?\s)*", re.IGNORECASE)
_AND: Final = re.compile(r"\b(?:and|but|so|because|since),? $")
_CONFIDENCE: Final = 0.7


@attrs.frozen
class Mentioned:
    """A name of a sentence, its key (equal for all spellings), and its type if known."""

    found: NameSpan
    key: str
    type: str


def has_pronoun(text: str) -> bool:
    """Whether a text contains a pronoun that may refer to a name."""
    return _PRONOUN.search(text) is not None


def pronouns(text: str, start: int, end: int, *, spoken: bool) -> Sequence[re.Match[str]]:
    """The pronouns in [start, end) of a text that may refer to a person or, in ``spoken`` text, to a thing.

    "It" in an article mostly refers to its subject, which the sentence before need not name.
    """
    return [match for match in _PRONOUN.finditer(text, start, end) if spoken or match["person"]]


def references(
    found: Sequence[re.Match[str]], names: Sequence[Mentioned], before: Sequence[Mentioned]
) -> Iterator[NameSpan]:
    """The pronouns of a sentence that have one antecedent, as tentative names.

    ``names`` are those of the sentence, ``before`` those of the sentence before. Names earlier in the sentence take
    precedence; if they and the sentence before disagree, or both "he" and "she" occur, nothing is resolved.
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
            named = named[:-1]  # "Devon Grain is sponsoring it": the subject is not its own object
        here, there = only(named), only(before)
        several = here is None and any((each.type == "person") == personal for each in named) and not match["place"]
        if several or (here and there and here.key != there.key):
            continue
        meant = here or there
        owning = _HIS.match(match.string, _at(match)) is not None
        if meant and (owning or not _OWN.match(match.string, _at(match))):
            yield NameSpan(
                start=_at(match),
                end=match.end(),
                type="person" if personal else meant.type,
                confidence=_CONFIDENCE,
                pattern=POSSESSIVE if owning else PLACE if match["place"] else PRONOUN,
                tentative=True,
                antecedent=meant.found.antecedent or meant.found,
            )


def _may_be_meant(match: re.Match[str], last: Mentioned) -> bool:
    """Whether a pronoun may refer to the last name before it: not if that is the subject of its verb."""
    start, end = last.found.end, _at(match)
    return any(rule.search(match.string, start, end) is not None for rule in (_SUBJECT, _OTHER_SUBJECT))


def is_leading_it(match: re.Match[str], start: int) -> bool:
    """Whether a pronoun is the "it" at the beginning of a text that begins at ``start``."""
    return match["thing"] is not None and _HEAD.fullmatch(match.string, start, match.start()) is not None


def is_repeated_it(match: re.Match[str], start: int) -> bool:
    """Whether a pronoun repeats the "it" at the beginning of its sentence: "It is small, and it uses Redis"."""
    if match["thing"] is None or _AND.search(match.string, start, match.start()) is None:
        return False
    head = _HEAD.match(match.string, start)
    return head is not None and match.string[head.end() : head.end() + 3].lower() == "it "


def _at(match: re.Match[str]) -> int:
    """The start of the pronoun; the match of "there" includes its verb."""
    return match.start("place") if match["place"] else match.start()


def _only_person(names: Sequence[Mentioned]) -> Mentioned | None:
    """The only known person; None if there is none or several."""
    people = {each.key: each for each in names if each.type == "person"}
    return next(iter(people.values())) if len(people) == 1 else None


def _only_thing(names: Sequence[Mentioned]) -> Mentioned | None:
    """The only name that is not of a person, date or place."""
    things = {each.key: each for each in names if each.type not in ("person", "place", "date")}
    return next(iter(things.values())) if len(things) == 1 else None


def _only_place(names: Sequence[Mentioned]) -> Mentioned | None:
    """The only name that one may work at, live in or move to."""
    places = {each.key: each for each in names if each.type not in ("person", "date", "tool", "project")}
    return next(iter(places.values())) if len(places) == 1 else None


def placeholder(character: str, found: NameSpan, text: str) -> str:
    """The replacement of a name or pronoun in a masked sentence; "there" needs a preposition."""
    if found.pattern == POSSESSIVE:
        return f"{character}'s"
    if found.pattern == PLACE:
        verb = text[: found.start].rsplit(None, 1)[-1].casefold()
        return f"{'to' if verb.startswith('mov') else 'in' if verb.startswith('liv') else 'at'} {character}"
    return character
