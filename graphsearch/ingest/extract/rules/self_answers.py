"""Elliptical answers about the speaker: "I'm in Leeds" after a question about where people live.

Without such a question they assert nothing: "I'm in Leeds" may be said on a journey.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from graphsearch.ingest.extract.rules.masked_sentence import DATE, NAME, name_numbers
from graphsearch.ingest.extract.rules.pattern_rows import JOB
from graphsearch.ingest.extract.rules.relating import SentenceName
from graphsearch.ingest.extract.rules.topics import NO_TOPICS, Topics

_LEAD: Final = "(?:(?:well|yes|no|oh|also|and|same|me too),? )*"
_CLAUSE: Final = rf"(?P<clause>(?:^|[,.!;:] |\b(?:and|but|so|because|since|as) ){_LEAD})"
_SELF: Final = f"(?P<self>{NAME}) am"
_THERE: Final = f"(?P<there>{NAME})"
_A_COMPANY: Final = f"(?:the )?{_THERE}"
_NEARBY: Final = (
    "(?:(?:up|over|down|out|just|still|also|right|way|actually|all the way|round the corner|around the corner|nearby"
    "|both|not far|based) )*"
)
# "I'm at Acme myself but", "I'm in Leeds I'm afraid", and no more words that the name may belong to
_ENDS: Final = (
    "(?: (?P=self)(?=[,.!]|$| (?:but|and|so)))?"
    r"(?=[,.!:;)]|$| (?:as well|too|also|and|but|so|with|near|which|where|myself|by|next|because|since|though"
    rf"|like|same|if|or|over|up|just|actually|these|{NAME} am afraid)\b)"
)
_STOPS: Final = "(?=[,.!]|$)"
# "Up in Leeds, the cold end"; not "In Leeds, nobody is late", which is not about the speaker
_NO_MORE: Final = (
    r"(?=[.!]|$|,(?![^.]* (?:is|are|was|were|has|have|had|will|can|do|does|did|they|we|you|he|she|it|nobody|everyone"
    r"|everybody|people|there)\b))"
)
_CLAUSE_END: Final = re.compile(r"[.!;]|\b(?:and|but|so)\b")
# "at Crane and Abbot" may be one name
_ANOTHER: Final = re.compile(rf" (?:and|&|or) (?:the )?{NAME}(?! am )")
# "I'm in Leeds this week", "I'm at Acme till six"
_PASSING: Final = re.compile(
    rf"{DATE}|\b(?:today|tonight|tomorrow|yesterday|this|next week|till?|until|all (?:day|week|morning|afternoon"
    r"|evening|night|weekend|month)|for (?:the|a|an|work|now|once|lunch|dinner|my|our)|on (?:holiday|business|leave"
    r"|tour|a|my)|moment|right now|currently|visiting|meeting|again|waiting|stuck|queue|back (?:on|in|at) \d"
    r"|at (?:\d|noon))\b"
)
_NO_JOB: Final = (
    "(?!(?:dinner|supper|later|over|after|never|ever|forever|summer|winter|other|either|another|together|number|weather"
    "|beer|water|paper|easter|earlier|rather|moment|event|present|accident|center|corner|order|letter|september"
    "|november|december|october|honor|error|floor|door|neither|under|sooner|announcement|appointment"
    "|customer|member|visitor|prisoner|lodger|newcomer|beginner|stranger|foreigner|regular|supporter|donor|winner"
    "|patient|guest|fan|friend|trustee|pupil|volunteer|tenant|resident|inmate|bit|lot|loss|table|desk)s? )"
)
_WORK: Final = (
    rf"(?:{JOB}|{_NO_JOB}[a-z-]{{2,}}(?:er|or|ist|ian|ant|man|woman|eer|wife|smith|hand|clerk|nurse|cook|chef|guard"
    "|pilot|vet|temp|medic|mechanic|apprentice))"
)
_JOB: Final = re.compile(_WORK)
_SOME: Final = "(?:[a-z-]+ ){0,2}?"
_HELLO: Final = "(?P<clause>^(?:[a-z]+[,!]? )?)"

_FORMS: Final = {
    "home": (
        re.compile(rf"{_CLAUSE}{_SELF} {_NEARBY}in {_THERE}{_ENDS}"),
        re.compile(rf"(?P<clause>^{_LEAD}){_NEARBY}in {_THERE}{_NO_MORE}"),
    ),
    "work": (
        re.compile(rf"{_CLAUSE}{_SELF} {_NEARBY}at {_A_COMPANY}{_ENDS}"),
        re.compile(rf"(?P<clause>^{_LEAD})(?:still|also) at {_A_COMPANY}{_STOPS}"),
        re.compile(rf"{_CLAUSE}{_SELF} (?:just )?(?:an? |the )?{_SOME}{_WORK} (?:at|for) {_A_COMPANY}{_ENDS}"),
        re.compile(rf"{_CLAUSE}{_SELF} an? {_SOME}{_NO_JOB}[a-z-]+ at {_A_COMPANY}{_ENDS}"),
        re.compile(rf"(?P<clause>^)(?:an? )?{_SOME}{_WORK} (?:at|for) {_A_COMPANY}{_STOPS}"),
        re.compile(rf"{_HELLO}(?:it's |this is )?{NAME},? (?:from|at|of) {_A_COMPANY},? here\b"),
        re.compile(rf"{_HELLO}(?:it's |this is ){NAME},? from {_A_COMPANY}{_STOPS}"),
    ),
}
_WITH: Final = re.compile(rf"{_CLAUSE}{_SELF} (?:still |also )?with {_A_COMPANY}{_ENDS}")
_HERE: Final = re.compile(rf"(?P<clause>^{_LEAD}){_THERE}(?: here(?: too| as well| also)?| too| as well| also){_STOPS}")
_COMPANIES: Final = ("organisation", "facility")
_SAYS: Final = {"home": "lives in", "work": "works at"}


def expanded_answer(masked: str, speaker: str, names: Sequence[SentenceName], topics: Topics) -> str:
    """Expand an elliptical answer in a masked sentence to a full clause.

    ``speaker`` is the placeholder of the speaker, ``names`` are the names of the sentence.
    """
    if topics is NO_TOPICS or "?" in masked:
        return masked
    opening = name_numbers(masked[:1])
    if topics.work and opening and opening[0] < len(names) and _JOB.fullmatch(names[opening[0]].key):
        masked = names[opening[0]].key + masked[1:]  # "Nurse at the Infirmary"
    for topic, forms in _FORMS.items():
        for form in forms if getattr(topics, topic) else ():
            if (match := form.search(masked)) and match.groupdict().get("self", speaker) == speaker:
                return _in_full(masked, match, speaker, topic)
    if topics.work and (match := _WITH.search(masked)) and match["self"] == speaker and _is_company(match, names):
        return _in_full(masked, match, speaker, "work")
    if topics.named and (match := _HERE.search(masked)):
        home = topics.named == "home"
        if names[name_numbers(match["there"])[0]].key in topics.places if home else _is_company(match, names):
            return _in_full(masked, match, speaker, topics.named)
    return masked


def _is_company(match: re.Match[str], names: Sequence[SentenceName]) -> bool:
    return names[name_numbers(match["there"])[0]].type in _COMPANIES


def _in_full(masked: str, match: re.Match[str], speaker: str, topic: str) -> str:
    """Replace an answer by its full clause, unless it holds only for a while."""
    end = _CLAUSE_END.search(masked, match.end())
    if _ANOTHER.match(masked, match.end()) or _PASSING.search(
        masked, match.start(), end.start() if end else len(masked)
    ):
        return masked
    clause = f"{match['clause']}{speaker} {_SAYS[topic]} {match['there']}"
    return masked[: match.start()] + clause + masked[match.end() :]
