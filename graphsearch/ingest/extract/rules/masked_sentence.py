"""A sentence with its names taken out, so that patterns see nothing but how they stand to each other.

"Dr. Priya Sharma joined Acme in May." becomes "␟ joined ␟ in ␟.", where each ␟ stands for a character of its own: one
for each name, counted from `FIRST_NAME`, one for each date, counted from `FIRST_DATE`. What is left is in small
letters, with straight quotes and single spaces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

FIRST_NAME: Final = 0xE000
FIRST_DATE: Final = 0xE100
MAX_NAMES: Final = 64
"""Names of a sentence that are taken out; those behind them are related to nothing."""
NAME: Final = "[\ue000-\ue0ff]"
DATE: Final = "[\ue100-\ue1ff]"
_ABBREVIATED: Final = re.compile(rf"({NAME})\.(?= \S)")  # inside a sentence: "Acme Inc. left"
PRIVATE: Final = re.compile("[\ue000-\uf8ff]")
"""What must be blanked in a text, since it would be taken for a name."""
_DECORATION: Final = str.maketrans({"’": "'", "“": '"', "”": '"', "*": None, "`": None, "\u00a0": " ", ";": "."})
_ME: Final = re.compile(r"(?<![\w'.-])(?:i|me|myself)(?![\w-]|\.\w)")
_MINE: Final = re.compile(
    r"(?<![\w'-])my (?=(?:new |old |current |former |line |direct |main |own )*(?:managers?|boss(?:es)?|supervisors?"
    r"|superior"
    r"|gaffer|team lead|direct reports?|team|colleagues?|coworkers?|co-workers?|teammates?|employer|home|home ?town"
    r"|sponsors?|backers?|work|invention|creation|brainchild)\b)"
)
# "Home is Galway": the speaker's.
_HOME: Final = re.compile(
    r"(?:^|(?<=, )|(?<=and )|(?<=but ))home(?= (?:is|'s|these|now|for me))(?: (?:these days|now|for me))*"
)
_NOT_ANYMORE: Final = re.compile(
    "(?: (?:(?:do|did|does) not|(?:do|did|does)n't)| (?P<be>is|are|am) not| (?P<been>is|are)n't|(?P<am>'m) not)"
    "(?= [^;]{1,80} (?:anymore|any more|any longer))"
)
# "Ada works at Acme and lives in Rome": whoever works there lives there.
VERB: Final = (
    "(?:(?:then|later|now|also|still|already|recently|currently|just|no longer|never|will|is|was|has|are|were"
    "|have|does|did|both) )*(?:[a-z]{2,}ed|is|was|has|'s|will|does|works?|lives?|leads?|manages?|uses?|reports?"
    "|depends?|runs?|heads?|plays?|joins?|leaves?|moves?|funds?|sponsors?|teaches|teach|relies|rely|built|wrote"
    "|left|led|ran|taught|set up|quit|took|became|got|head of|working|living|leading|managing|using|reporting"
    r"|based|member|part|[a-z]+ (?:at|for|of))\b"
)
_ARTICLE: Final = "(?:the |an? |our )?"
LIST: Final = (
    rf"{NAME}(?:(?:, {_ARTICLE}{NAME})+,? (?:and|&) {_ARTICLE}{NAME}|(?: and| &|,? as well as) {_ARTICLE}{NAME})*"
)
"""Several names; a comma alone makes no list, as in "Austin, Texas"."""
_SUBJECT_NEXT: Final = rf"(?!'s |(?:'s)? {VERB})"
CLOSED_LIST: Final = (
    rf"{NAME}(?:(?:, {_ARTICLE}{NAME})+,? (?:and|&) {_ARTICLE}{NAME}{_SUBJECT_NEXT}"
    rf"|(?: and| &|,? as well as) (?:(?:also )?(?:by|to|on|with|for|in|of|at) )?{_ARTICLE}{NAME}{_SUBJECT_NEXT}"
    rf"|, and (?:also )?of {_ARTICLE}{NAME}{_SUBJECT_NEXT})*"
)
"""Several names behind a verb: in "leads Apollo and Bob leads Gemini" it ends before Bob."""
_SHARED_SUBJECT: Final = re.compile(rf",? (?:and|but|then) (?={VERB})")
# "Ana leads Apollo and Bo is joining": a verb in the singular has but the last name for its subject.
_ONE_ALONE: Final = re.compile(rf"({NAME}) and (?={_ARTICLE}{NAME} (?:is|was|has) )")
# "I lead Apollo and I live in Rome": behind "I" at first, "Apollo and I" are not two who live there.
_FIRST: Final = re.compile(NAME)
_CLAUSE_OF: Final = re.compile(rf"({NAME}) and (?=({NAME}) )")
_SUBJECT: Final = re.compile(
    rf"^(?:[^ ]+,? ){{0,3}}?(?<!at )(?<!in )(?<!on )(?<!for )(?<!from )(?<!with )(?<!to )(?<!by )(?<!of )({LIST})"
)
# "Moved to Galway in May." says who writes, as a note does: "I" is left out.
_LEFT_OUT: Final = re.compile(
    r"^(?:(?:and|also|so|well|now|just|still|finally|recently|currently|update|news|been|yes|yep|yeah|no),?:? "
    r")*(?=(?:moved|relocated|joined|left|quit"
    r"|started|based|living|working|reporting|switched|took over|stepped down) )"
)
# "Ana, that means you report to Bo"
_FROM_THIS: Final = (
    rf"(?:(?:(?:and|so|then|now|well|ok|okay|yes|right|that|this|it|which|also) )*(?:means|is why|(?:from|as of|since) "
    rf"(?:now on|now|{DATE})|now|so|then|and|yes|ok|okay|please note),? (?:that )?)?"
)
# "Ana, you report to Bo": who is spoken to.
_ADDRESSED: Final = re.compile(
    rf"^((?:[a-z]+,? )*)({NAME}), {_FROM_THIS}you(?= |'re |'ve |'ll )|\byou(?=(?:'re|'ve|'ll)? [^.;]*, ({NAME})[.!]?$)"
)
_PRONOUN: Final = re.compile(r"\b(?:he|she|they|we|it|you)\b")
_MODAL: Final = re.compile(
    r"\b(?:should|could|would|might|may|must|can|(?:want|plan|hope|need|like|decid|try|intend|ask|promis|refus"
    r"|offer)[a-z]* to)\b"
)


def skeleton(text: str, start: int, end: int, places: Sequence[tuple[int, int, str]], speaker: int | None) -> str:
    """The sentence [start, end) of a text, with a character put in at each of the given places.

    ``places`` are in order and apart. ``speaker`` is the number of whoever says "I" in it, None where nobody known is.
    """
    parts: list[str] = []
    for first, last, character in places:
        parts += (text[start:first].lower(), character)
        start = last
    parts.append(text[start:end].lower())
    bare = " ".join("".join(parts).translate(_DECORATION).split())
    if ". " in bare:
        bare = _ABBREVIATED.sub(r"\1", bare)
    if speaker is not None and '"' not in bare:
        stand_in = chr(FIRST_NAME + speaker)
        bare = _MINE.sub(f"{stand_in}'s ", _ME.sub(stand_in, bare)).replace(f"{stand_in}'m ", f"{stand_in} am ")
        if "home" in bare:
            bare = _HOME.sub(f"{stand_in}'s home", bare)
        bare = _LEFT_OUT.sub(f"{stand_in} ", bare, count=1)
    if "you" in bare:
        bare = _ADDRESSED.sub(_addressed, bare, count=1)
    if "any" in bare:
        bare = _NOT_ANYMORE.sub(_no_longer, bare)
    if " and " in bare:
        bare = _ONE_ALONE.sub(r"\1; ", bare)
        if speaker is not None and (opening := _FIRST.search(bare)) and opening[0] == chr(FIRST_NAME + speaker):
            bare = _CLAUSE_OF.sub(lambda match: f"{match[1]}; " if match[2] == opening[0] else match[0], bare)
    return _with_subjects(bare) if " and " in bare or " but " in bare or " then " in bare else bare


def _no_longer(match: re.Match[str]) -> str:
    be = match["be"] or match["been"] or ("am" if match["am"] else "")
    return f" {be} no longer" if be else " no longer"


def _addressed(match: re.Match[str]) -> str:
    """Twice the name, since verbs go with "you" as they go with several."""
    name = match[2] or match[3]
    return f"{match[1] or ''}{name} and {name}"


def numbers(characters: str) -> list[int]:
    """Which names the characters of a part of a skeleton stand for."""
    return [ord(character) - FIRST_NAME for character in characters if FIRST_NAME <= ord(character) < FIRST_DATE]


def _with_subjects(bare: str) -> str:
    """Verbs that share their subject with the one before get it back, behind a semicolon, which nothing else is."""
    subject = _SUBJECT.match(bare)
    if subject is None or _PRONOUN.search(bare, 0, subject.start(1)) or _MODAL.search(bare):
        return bare
    kept, rest = bare[: subject.end()], bare[subject.end() :]
    return kept + _SHARED_SUBJECT.sub(lambda _: f"; {subject[1]} ", rest)
