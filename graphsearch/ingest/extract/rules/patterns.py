"""Relation patterns: how a sentence expresses a relation. Users can add their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.extract.rules.masked_sentence import CLOSED_LIST, DATE, LIST, NAME
from graphsearch.model import validation as check
from graphsearch.model.identity import snake_case


class Phase(StrEnum):
    """The part of a relation's lifetime that a pattern expresses."""

    HOLDS = "holds"
    """It holds: "works at". After "was" this becomes `ENDED`, after "no longer" and "used to" `CLOSES`."""
    DONE = "done"
    """It happened, and holds from then on: "built"."""
    ENDED = "ended"
    """It held, and was over at the time of the memory: "worked at"."""
    OPENS = "opens"
    """It began then: "joined"."""
    CLOSES = "closes"
    """It ended then: "left"."""


_WORD: Final = re.compile("[a-z]{2,}")
ANY_TYPE: Final = ("",)

# Words that may occur between a name and its verb.
_AUXILIARIES: Final = (
    "is|are|was|were|am|been|being|has|have|had|does|do|did|'re|'ve|'m|now|also|currently|still|already|recently"
    "|just|formally|officially|directly|actually|really|both|all|each|then|first|later|quickly|finally|soon"
    "|eventually|always|often|usually|mostly|mainly|primarily|heavily|jointly|happily|closely|together|started"
    "|began|starts|begins|(?P<infinitive>(?:started|began|starts|begins|continues|continued) to)|(?:(?:in|on"
    f"|since) )?{DATE}"
)
_CLOSED: Final = "(?P<closed>no longer|used to|formerly|previously|stop(?:ped|s)|ceased|quit)"
_FUTURE: Final = "(?P<future>will|going to|about to)"
_APPOSITION: Final = r"(?:, (?:who|which) [^,;]{1,80},|, [^,;]{1,60},| \([^()]{1,40}\))"
# "the `find` function requires …": nouns for kinds of things.
_NOUN: Final = (
    "(?:function|method|class|module|service|library|framework|package|tool|app|team|project|platform|database"
    "|server|system|pipeline|api|company|repo|plugin|study|trial|paper|product|experiment|model|initiative"
    "|programme|program|migration|rewrite|thing)"
)
# "runs the Lisbon office", "built IKEA shelves" state nothing about Lisbon and IKEA: the name modifies a noun.
_NO_MODIFIER: Final = (
    rf"(?! (?!(?:{_NOUN}|and|or|but|in|on|at|for|with|from|to|by|of|as|since|until|till|while|because|when|where"
    "|after|before|during|who|which|that|is|was|are|were|will|has|have|had|can|does|did|do|should|could|would|must|last|next|this|these"
    "|those|today|yesterday|tomorrow|tonight|now|then|instead|again|too|together|every|each|all|both|most|via|so|there|here"
    "|also|work|works|worked|collaborate|alone|through|under|over|about|around|across|into|onto|off|out|up|down|back|near"
    "|any|anymore|already|still|once|twice|soon|later|ago|anyway|atm|rn|lol|btw|please|thanks|currently|weekly|daily|if|like|than"
    "|rather|without|unless|though|although|except|inside|outside|between|behind|beside|i|he|she|it|we|they|you|my|our"
    "|his|her|its|their|your|the|an?|no|not|never|always|just|only|even|well|alright|myself|himself|herself|itself|ourselves"
    "|themselves|what|how|why|whose|v\\d+|[a-z]+ly|[a-z]{3,}ing)"
    r"\b)[a-z])"
)
_GAP: Final = (
    f"(?: {_NOUN})?{_APPOSITION}?(?:(?:'s| is| was) the (?:one|person|man|woman|guy))?(?:,? (?:who|which"
    f"|that))?,?(?:'s(?= )|'ll|'ve|'m|'re)?(?: (?:{_AUXILIARIES}"
    f"|{_CLOSED}|{_FUTURE})){{0,8}}? "
)
_DETERMINER: Final = r"(?:(?:the|our|a|an|their|its|your|this|his|her) )?(?:(?:new|old|whole|entire) )?"
_ROLE: Final = (
    "(?:(?:(?:the|our|a|an|their|his|her|my|new|former|fellow|senior|lead|chief)[ -]){0,3}(?:colleague|coworker"
    "|co-worker|friend|engineer|developer|designer|manager|director|boss|teammate|researcher|scientist|professor"
    "|client|customer|partner|vendor|supplier|company|startup|firm|ceo|cto|cfo|coo|vp|head|brother|sister|cousin"
    "|husband|wife"
    "|son|daughter|uncle|aunt|nephew|niece|mother|father|mum|dad|neighbour|neighbor|flatmate|mate|pal|apprentice|intern"
    "|assistant|deputy)s?,? )?"
)


def _words(words: Iterable[str]) -> frozenset[str]:
    return frozenset(words)


@attrs.frozen(kw_only=True)
class RelationPattern:
    """How a sentence expresses a relation between two names.

    ``template`` is a regular expression over the masked sentence in lower case, with ``{source}`` and ``{target}`` in
    place of the names and ``{any}`` for any other name: "{source} (?:mentors|coaches) {target}". For the inverse of a
    verb, the target comes first: "{target} manages {source}". A slot matches one or more names ("Ada and Bob"), an
    article before them, and after them an apposition and auxiliaries (is, has, now, also, "no longer"), but no
    negation. A group ``(?P<plain>…)`` contains verb forms that agree only with several names or "I"; an empty group
    ``(?P<noun>)`` marks the beginning of a predicate noun, before which "is" or a comma is required.

    ``source_types`` and ``target_types`` are the types that a name may have. A type with a question mark, as in
    "person?", is assigned to a name of unknown type, "given_name?" makes one that is a known given name a person,
    "employer?" makes an organisation, and "firm?" one of several words; with "" among the types such a name keeps no
    type; with neither it does not match. ("",) alone matches any type.
    ``confidence`` follows the bands of docs/design.md, Confidence: clear 0.80–0.92, ambiguous 0.60–0.75, inferred
    0.50–0.65. The pattern is tried only on sentences with one of the words in ``cues``; if empty, on all. ``confirms``:
    it makes a capitalised word at the head of a sentence a name; otherwise that must be a known given name, or do what
    people do. ``trusted``: the template is valid, and is compiled at the first use.

    Raises `InvalidInputError` for a template that is no regular expression or lacks a slot.
    """

    name: str
    type: str = attrs.field(converter=snake_case)
    template: str
    source_types: tuple[str, ...] = ANY_TYPE
    target_types: tuple[str, ...] = ANY_TYPE
    confidence: float = 0.85
    phase: Phase = Phase.HOLDS
    confirms: bool = True
    trusted: bool = attrs.field(default=False, eq=False, repr=False)
    cues: frozenset[str] = attrs.field(default=frozenset(), converter=_words)

    def __attrs_post_init__(self) -> None:
        slots = [
            None if f"{{{slot}}}" in self.template else f"template lacks {{{slot}}}" for slot in ("source", "target")
        ]
        faults = (check.text("name", self.name), check.text("type", self.type), *slots)
        check.refuse(f"pattern {self.name!r}", *faults, check.unit("confidence", self.confidence))
        if not self.trusted:
            self.regex  # noqa: B018 - raises for an invalid regular expression

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The compiled template."""
        try:
            return re.compile(self._expanded())
        except re.error as error:
            raise InvalidInputError(
                f"pattern {self.name!r}", [f"template is no regular expression: {error}"]
            ) from error

    @cached_property
    def of_team(self) -> bool:
        """Whether it relates nothing in a sentence without the name of a team."""
        return self.target_types == ("team",)

    @property
    def slots(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The types of the source and of the target."""
        return self.source_types, self.target_types

    def _expanded(self) -> str:
        """The template with its slots expanded; the first slot is followed by the gap before the verb."""
        expanded = self.template.replace("{any}", f"{_DETERMINER}{NAME}")
        opening = "source" if 0 <= expanded.find("{source}") < expanded.find("{target}") else "target"
        for slot, types in (("source", self.source_types), ("target", self.target_types)):
            # "the Apollo" is no person, so "leads the Apollo" relates no person.
            people = types[:1] == ("person?",)
            group = f"(?P<{slot}>{LIST if slot == opening else CLOSED_LIST})"
            # an article that is written out does not keep a verb from following
            modifier = "" if f"their )?{{{slot}}}" in self.template else _NO_MODIFIER
            if slot == opening:
                expanded = expanded.replace(f"{{{slot}}} ", f"{group}{_GAP}").replace(f"{{{slot}}}", group)
            else:
                expanded = expanded.replace(
                    f"{{{slot}}}",
                    f"{_ROLE}{group}"
                    if people
                    else f"{_ROLE if 'person' in types else ''}{_DETERMINER}{group}{modifier}",
                )
        return expanded


PatternsByCue = Mapping[str, Sequence[tuple[int, RelationPattern]]]
"""Patterns with their ranks by cue, "" for those that are always tried."""


def by_cue(patterns: Iterable[RelationPattern]) -> PatternsByCue:
    """Index patterns by cue; an earlier pattern ranks before a later one."""
    found: dict[str, dict[int, RelationPattern]] = {}
    for rank, pattern in enumerate(patterns):
        for cue in cues_of(" ".join(pattern.cues)) or ("",):
            found.setdefault(cue, {})[rank] = pattern
    return {cue: tuple(called.items()) for cue, called in found.items()}


def cues_of(masked: str) -> set[str]:
    """The words of a masked sentence that may be cues, without a final s as in "reports"."""
    return {word.rstrip("s") or word for word in _WORD.findall(masked)}
