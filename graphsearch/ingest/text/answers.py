"""What people say of themselves as an answer: "I'm in Leeds" where somebody asks who lives where.

Without a question such words state nothing: "I'm in Leeds" may be said on a journey.
"""

from __future__ import annotations

import re
from functools import cache
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from graphsearch.ingest.text.beside import speaker_of
from graphsearch.ingest.text.pattern_rows import JOB
from graphsearch.ingest.text.relating import Name
from graphsearch.ingest.text.skeleton import DATE, NAME, numbers
from graphsearch.model import Memory

REACH: Final = 4
"""Turns that a topic lasts for after the last one that speaks of it or answers it."""


@attrs.frozen
class Topics:
    """What is asked or told in a memory and just before it: where people live, and where they work.

    ``named``: the last of the two, of which "Leeds here" speaks; empty in the first words of a speaker, where
    "Bo here" is who speaks. ``places`` are names in small letters that stand behind "in" or "near" somewhere.
    """

    home: bool = False
    work: bool = False
    named: str = ""
    places: frozenset[str] = frozenset()


NO_TOPICS: Final = Topics()
_PEOPLE: Final = "(?:any(?:one|body)|who|you|we|people|everyone|everybody|folks?)(?: all| else| of (?:you|us))*"
_HOME_ASKED: Final = re.compile(
    r"\bwhere(?:abouts)?\b[^.?!]{0,40}\b(?:live|lives|living|based)\b"
    rf"|\b{_PEOPLE} (?:lives?|living)\b",
    re.IGNORECASE,
)
_HOME_TOLD: Final = re.compile(r"\b(?:live|lives|living) (?:in|at|out|up|over|down|near|round)\b", re.IGNORECASE)
_WORK_ASKED: Final = re.compile(
    r"\bwhere(?:abouts)?\b[^.?!]{0,40}\b(?:works?|working|employed)\b|\bfor a living\b|\bday jobs?\b"
    r"|\b(?:what|whose|which)\b[^.?!]{0,20} jobs?\b"
    rf"|\b{_PEOPLE} (?:work|works|working) (?:at|for|where)\b",
    re.IGNORECASE,
)
_WORK_TOLD: Final = re.compile(r"\b(?:work|works|working) (?:at|for)\b|\bmy (?:job|work|employer)\b", re.IGNORECASE)
_CUES: Final = ("liv", "where", "work", "job")
_ANSWERS: Final = re.compile(r"\b(?:I['’]?m|I am)\b|\bhere\b|^(?:\w+ )?(?:in|at) [A-Z]", re.IGNORECASE)

_CLAUSE: Final = (
    r"(?P<clause>(?:^|[,.!;:] |\b(?:and|but|so|because|since|as) )(?:(?:well|yes|no|oh|also|and|same|me too),? )*)"
)
_NEARBY: Final = (
    "(?:(?:up|over|down|out|just|still|also|right|way|actually|all the way|round the corner|around the corner|nearby"
    "|both|not far|based) )*"
)
_ENDS: Final = (
    r"(?=[,.!:;)]|$| (?:as well|too|also|and|but|so|with|near|which|where|myself|by|next|these|because|since|though"
    rf"|like|same|if|or|over|up|just|{NAME} am afraid)\b)"
)
_MYSELF: Final = "(?: (?P=self)(?=[,.!]|$| (?:but|and|so)))?"
_ANOTHER: Final = re.compile(rf" (?:and|&|or) (?:the )?{NAME}(?! am )")
_CLAUSE_END: Final = re.compile(r"[.!;]|\b(?:and|but|so)\b")
# "I'm in Leeds this week", "I'm at Acme till six"
_PASSING: Final = re.compile(
    rf"{DATE}|\b(?:today|tonight|tomorrow|yesterday|this|next week|till?|until|all (?:day|week|morning|afternoon"
    r"|evening|night|weekend|month)|for (?:the|a|an|work|now|once|lunch|dinner|my|our)|on (?:holiday|business|leave"
    r"|tour|a|my)|moment|right now|currently|visiting|meeting|again|waiting|stuck|queue|back (?:on|in|at) \d|at (?:\d|noon))\b"
)
_AGENT: Final = (
    "(?!(?:dinner|supper|later|over|after|never|ever|forever|summer|winter|other|either|another|together|number|weather"
    "|beer|water|paper|easter|earlier|rather|moment|event|present|accident|center|corner|order|letter|september"
    "|november|december|october|honor|error|floor|door|neither|under|sooner|announcement|appointment)s? )"
    r"(?!(?:customer|member|visitor|prisoner|lodger|newcomer|beginner|stranger|foreigner|regular|supporter|donor|winner)s? )"
    r"[a-z-]{2,}(?:er|or|ist|ian|ant|man|woman|eer|wife|smith|hand|clerk|nurse|cook|chef|guard|pilot|vet|temp|medic|mechanic"
    r"|apprentice)"
)
_WORK: Final = f"(?:{JOB}|{_AGENT})"
_JOB: Final = re.compile(_WORK)
_FORMS: Final = {
    "home": (
        re.compile(rf"{_CLAUSE}(?P<self>{NAME}) am {_NEARBY}in (?P<there>{NAME}){_MYSELF}{_ENDS}"),
        re.compile(rf"(?P<clause>^(?:(?:well|yes|oh|also|me),? )*){_NEARBY}in (?P<there>{NAME})(?=[,.!]|$)"),
    ),
    "work": (
        re.compile(rf"{_CLAUSE}(?P<self>{NAME}) am {_NEARBY}at (?:the )?(?P<there>{NAME}){_MYSELF}{_ENDS}"),
        re.compile(
            rf"(?P<clause>^)(?:an? )?(?:[a-z-]+ ){{0,2}}?{_WORK} (?:at|for) (?:the )?(?P<there>{NAME})(?=[,.!]|$)"
        ),
        re.compile(
            rf"{_CLAUSE}(?P<self>{NAME}) am (?:just )?(?:an? |the )?(?:[a-z-]+ ){{0,2}}?{_WORK} (?:at|for) (?:the )?(?P<there>{NAME}){_ENDS}"
        ),
        re.compile(
            rf"(?P<clause>^(?:[a-z]+[,!]? )?)(?:it's |this is )?{NAME},? (?:from|at|of) (?:the )?(?P<there>{NAME}),? here\b"
        ),
        re.compile(
            rf"(?P<clause>^(?:[a-z]+[,!]? )?)(?:it's |this is ){NAME},? from (?:the )?(?P<there>{NAME})(?=[,.!]|$)"
        ),
    ),
}
_WITH: Final = re.compile(rf"{_CLAUSE}(?P<self>{NAME}) am (?:still |also )?with (?:the )?(?P<there>{NAME}){_ENDS}")
_HERE: Final = re.compile(
    rf"(?P<clause>^(?:(?:well|yes|oh|also|and|no),? )*)(?P<there>{NAME})(?: here(?: too| as well| also)?| too| as well| also)(?=[,.!]|$)"
)
_PLACE: Final = re.compile(r"\b(?:in|near|around|to) ((?!I\b)[A-Z][\w-]*(?: (?!I\b)[A-Z][\w-]*){0,2})")
_FACILITIES: Final = ("organisation", "facility")
_SAYS: Final = {"home": "lives in", "work": "works at"}


def topics(memories: Sequence[Memory]) -> Mapping[str, Topics]:
    """What each memory may be an answer to, by its id; memories of a session stand in their order."""
    found: dict[str, Topics] = {}
    last: dict[str, dict[str, int]] = {}
    heard: set[str] = set()
    places = cache(lambda: frozenset(each[1].casefold() for one in memories for each in _PLACE.finditer(one.text)))
    for number, memory in enumerate(memories):
        speaker = speaker_of(memory)
        if not speaker:
            continue
        open_ = last.setdefault(memory.session_id, {})
        small = memory.text.casefold()
        cued = any(cue in small for cue in _CUES)
        if cued:
            for topic, asked in (("home", _HOME_ASKED), ("work", _WORK_ASKED)):
                if asked.search(memory.text):
                    open_.pop(topic, None)
                    open_[topic] = number
        held = [topic for topic, at in open_.items() if number - at <= REACH]
        if held:
            found[memory.id] = Topics("home" in held, "work" in held, held[-1] if speaker in heard else "", places())
            if _ANSWERS.search(memory.text):
                open_[held[-1]] = number
        if cued:
            for topic, told in (("home", _HOME_TOLD), ("work", _WORK_TOLD)):
                if told.search(memory.text):
                    open_.pop(topic, None)
                    open_[topic] = number
        heard.add(speaker)
    return found


def answered(bare: str, speaker: str, names: Sequence[Name], asked: Topics) -> str:
    """A skeleton in which an answer says in full what it means; ``speaker`` stands for whoever says "I" in it."""
    if asked is NO_TOPICS or "?" in bare:
        return bare
    opening = numbers(bare[:1])
    if asked.work and opening and opening[0] < len(names) and _JOB.fullmatch(names[opening[0]].key):
        bare = names[opening[0]].key + bare[1:]  # "Nurse at the Infirmary"
    for topic, forms in _FORMS.items():
        if getattr(asked, topic):
            for form in forms:
                if (match := form.search(bare)) and match.groupdict().get("self", speaker) == speaker:
                    return _with(bare, match, speaker, topic)
    if asked.work and (match := _WITH.search(bare)) and match["self"] == speaker and _is_company(match, names):
        return _with(bare, match, speaker, "work")
    if asked.named and (match := _HERE.search(bare)):
        named = names[numbers(match["there"])[0]]
        if _is_company(match, names) if asked.named == "work" else named.key in asked.places:
            return _with(bare, match, speaker, asked.named)
    return bare


def _is_company(match: re.Match[str], names: Sequence[Name]) -> bool:
    return names[numbers(match["there"])[0]].type in _FACILITIES


def _with(bare: str, match: re.Match[str], speaker: str, topic: str) -> str:
    if _ANOTHER.match(bare, match.end()):
        return bare  # "at Crane and Abbot" may be one name
    end = _CLAUSE_END.search(bare, match.end())
    if _PASSING.search(bare, match.start(), end.start() if end else len(bare)):
        return bare
    said = f"{match['clause']}{speaker} {_SAYS[topic]} {match['there']}"
    return bare[: match.start()] + said + bare[match.end() :]
