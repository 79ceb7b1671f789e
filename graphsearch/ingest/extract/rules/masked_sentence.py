"""Masked sentences: names and dates are replaced by placeholders, so that patterns match only the words between.

"Dr. Priya Sharma joined Acme in May." becomes "␟ joined ␟ in ␟.", where each ␟ is a distinct private-use character:
names are numbered from `FIRST_NAME`, dates from `FIRST_DATE`. The rest is in lower case, with straight quotes and
single spaces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

FIRST_NAME: Final = 0xE000
FIRST_DATE: Final = 0xE100
MAX_NAMES: Final = 64
"""Maximum names of a sentence that are masked; later ones are related to nothing."""
MOST_LISTED: Final = 16
"""Maximum names of a list that are related together; more are no subject of a verb."""
NAME: Final = "[\ue000-\ue0ff]"
DATE: Final = "[\ue100-\ue1ff]"
_IN_BRACKETS: Final = re.compile(rf"({NAME}) \([a-z][a-z /'-]{{0,30}}\)(?= (?:and|,|[a-z]))")
"""What a name is or does, between it and what follows: "Ana (sound) works at …"."""
_ABBREVIATED: Final = re.compile(rf"({NAME})\.(?= \S)")  # inside a sentence: "Acme Inc. left"
PRIVATE: Final = re.compile("[\ue000-\uf8ff]")
"""Characters to be removed from a text, since they would be taken for names."""
_DECORATION: Final = str.maketrans({"’": "'", "“": '"', "”": '"', "*": None, "`": None, "\u00a0": " ", ";": "."})
_ME: Final = re.compile(r"(?<![\w'.-])(?:i|me|myself)(?![\w-]|\.\w)")
_MINE: Final = re.compile(
    r"(?<![\w'-])my (?=(?:new |old |current |former |line |direct |main |own ){0,4}(?:managers?|boss(?:es)?"
    r"|supervisors?|superior|gaffer|team lead|direct reports?"
    r"|team|colleagues?|coworkers?|co-workers?|teammates?|employer|home|home ?town"
    r"|sponsors?|backers?|work|invention|creation|brainchild)\b)"
)
# "We use Redis", "we've moved to Galway": what a group does together, its speaker does as well. Who leads or makes
# something may be another of the group.
_WE: Final = re.compile(
    r"(?<![\w'.-])we(?='(?:re|ve) | )(?='?(?:[a-z]+)? ?(?:(?:now|also|both|all|just|still|currently|recently"
    r"|finally|are|have"
    r"|had|were|already|then|mostly|mainly) ){0,4}(?:us(?:e|ed|ing)|mov(?:e|ed|ing)|switch(?:ed|ing)?"
    r"|migrat(?:e|ed|ing)|replac(?:e|ed|ing)|adopt(?:ed|ing)?|upgrad(?:e|ed|ing)"
    r"|met|meet|spoke|talked|caught up|had (?:an? )?(?:lunch|dinner|coffee|call|meeting)|work(?:ed|ing)? (?:on|at"
    r"|for|with)"
    r"|live|living|rely|depend|store|keep|joined|left) )"
)
# "Home is Galway": the home of the speaker.
_HOME: Final = re.compile(
    r"(?:^|(?<=, )|(?<=and )|(?<=but ))home(?= (?:is|'s|these|now|for me))(?: (?:these days|now|for me))*"
)
_NOT_ANYMORE: Final = re.compile(
    "(?: (?:(?:do|did|does) not|(?:do|did|does)n't)| (?P<be>is|are|am) not| (?P<been>is|are)n't|(?P<am>'m) not)"
    "(?= [^;]{1,80} (?:anymore|any more|any longer))"
)
# "Ada works at Acme and lives in Rome": both verbs have the same subject.
VERB: Final = (
    "(?:(?:then|later|now|also|still|already|recently|currently|just|no longer|never|will|is|was|has|are|were"
    "|have|does|did|both) ){0,4}(?:[a-z]{2,}ed|is|was|has|'s|will|does|works?|lives?|leads?|manages?|uses?|reports?"
    "|depends?|runs?|heads?|plays?|joins?|leaves?|moves?|funds?|sponsors?|teaches|teach|stores?|keeps?|relies|rely|built|wrote"
    "|left|led|ran|taught|set up|quit|took|became|got|head of|working|living|leading|managing|using|reporting"
    r"|based|member|part|[a-z]+ (?:at|for|of))\b"
)
_ARTICLE: Final = "(?:the |an? |our )?"
LIST: Final = (
    rf"{NAME}(?:(?:, {_ARTICLE}{NAME}){{1,{MOST_LISTED}}}+,? (?:and|&) {_ARTICLE}{NAME}"
    rf"|(?: and| &|,? as well as) {_ARTICLE}{NAME}){{0,{MOST_LISTED}}}"
)
"""A list of names; a comma alone makes no list, as in "Austin, Texas"."""
_SUBJECT_NEXT: Final = rf"(?!'s |(?:'s)? {VERB})"
CLOSED_LIST: Final = (
    rf"{NAME}(?:(?:, {_ARTICLE}{NAME}){{1,{MOST_LISTED}}}+,? (?:and|&) {_ARTICLE}{NAME}{_SUBJECT_NEXT}"
    rf"|(?: and| &|,? as well as) (?:(?:also )?(?:by|to|on|with|for|in|of|at) )?{_ARTICLE}{NAME}{_SUBJECT_NEXT}"
    rf"|, and (?:also )?of {_ARTICLE}{NAME}{_SUBJECT_NEXT}){{0,{MOST_LISTED}}}"
)
"""A list of names after a verb: in "leads Apollo and Bob leads Gemini" it ends before Bob."""
_SHARED_SUBJECT: Final = re.compile(rf",? (?:and|but|then) (?={VERB})")
# "Ana leads Apollo and Bo is joining": the subject of a singular verb is only the last name.
_ONE_ALONE: Final = re.compile(rf"({NAME}) and (?={_ARTICLE}{NAME} (?:is|was|has) )")
# "I lead Apollo and I live in Rome": after an initial "I", "Apollo and I" is no list of names.
_FIRST: Final = re.compile(NAME)
_CLAUSE_OF: Final = re.compile(rf"({NAME}) and (?=({NAME}) )")
_SUBJECT: Final = re.compile(
    rf"^(?:[^ ]+,? ){{0,3}}?(?<!at )(?<!in )(?<!on )(?<!for )(?<!from )(?<!with )(?<!to )(?<!by )(?<!of )({LIST})"
)
# "Moved to Galway in May.": the subject "I" is omitted, as in notes.
_LEFT_OUT: Final = re.compile(
    r"^(?:(?:and|also|so|well|now|just|still|finally|recently|currently|update|news|been|yes|yep|yeah|no),?:? "
    r")*(?=(?:moved|relocated|joined|left|quit"
    r"|started|based|switched|took over|stepped down) )"
)
# "Ana, that means you report to Bo"
_FROM_THIS: Final = (
    rf"(?:(?:(?:and|so|then|now|well|ok|okay|yes|right|that|this|it|which|also) ){{0,4}}(?:means|is why|"
    rf"(?:from|as of|since) (?:now on|now|{DATE})|now|so|then|and|yes|ok|okay|please note),? (?:that )?)?"
)
# "Ana, you report to Bo": "you" is the name addressed.
_ADDRESSED: Final = re.compile(
    rf"^((?:[a-z]+,? )*)({NAME}), {_FROM_THIS}you(?= |'re |'ve |'ll )"
    rf"|\byou(?=(?:'re|'ve|'ll)? [^.;]{{0,80}}, ({NAME})[.!]?$)"
)
_PRONOUN: Final = re.compile(r"\b(?:he|she|they|we|it|you)\b")
_MODAL: Final = re.compile(
    r"'ll\b|\b(?:will|going to|gonna|about to|let's|should|could|would|might|may|must|can"
    r"|(?:want|plan|hope|need|like|decid|try|intend|ask|promis|refus"
    r"|offer)[a-z]* to)\b"
)


def masked_sentence(
    text: str, start: int, end: int, places: Sequence[tuple[int, int, str]], speaker: int | None
) -> str:
    """Mask the sentence [start, end) of a text, with a placeholder at each of the given places.

    ``places`` are (start, end, placeholder), in order and without overlaps. ``speaker`` is the number of the name that
    "I" refers to, None if unknown.
    """
    parts: list[str] = []
    for first, last, character in places:
        parts += (text[start:first].lower(), character)
        start = last
    parts.append(text[start:end].lower())
    masked = " ".join("".join(parts).translate(_DECORATION).split())
    if "(" in masked:
        masked = _IN_BRACKETS.sub(r"\1", masked)
    if ". " in masked:
        masked = _ABBREVIATED.sub(r"\1", masked)
    if speaker is not None and '"' not in masked:
        masked = _of_speaker(masked, chr(FIRST_NAME + speaker))
    if "you" in masked:
        masked = _ADDRESSED.sub(_addressed, masked, count=1)
    if "any" in masked:
        masked = _NOT_ANYMORE.sub(_no_longer, masked)
    if " and " in masked:
        masked = _ONE_ALONE.sub(r"\1; ", masked)
        if speaker is not None and (opening := _FIRST.search(masked)) and opening[0] == chr(FIRST_NAME + speaker):
            masked = _CLAUSE_OF.sub(lambda match: f"{match[1]}; " if match[2] == opening[0] else match[0], masked)
    return _with_subjects(masked) if " and " in masked or " but " in masked or " then " in masked else masked


def _of_speaker(masked: str, stand_in: str) -> str:
    """The speaker's placeholder in place of "I", "my", "we" and an omitted "I"."""
    masked = _MINE.sub(f"{stand_in}'s ", _ME.sub(stand_in, masked)).replace(f"{stand_in}'m ", f"{stand_in} am ")
    if "we" in masked:
        masked = _WE.sub(stand_in, masked)
    if "home" in masked:
        masked = _HOME.sub(f"{stand_in}'s home", masked)
    return _LEFT_OUT.sub(f"{stand_in} ", masked, count=1)


def _no_longer(match: re.Match[str]) -> str:
    be = match["be"] or match["been"] or ("am" if match["am"] else "")
    return f" {be} no longer" if be else " no longer"


def _addressed(match: re.Match[str]) -> str:
    """Repeat the name, since verbs after "you" have the plural form."""
    name = match[2] or match[3]
    return f"{match[1] or ''}{name} and {name}"


def name_numbers(characters: str) -> list[int]:
    """The name_numbers of the names in a part of a masked sentence."""
    return [ord(character) - FIRST_NAME for character in characters if FIRST_NAME <= ord(character) < FIRST_DATE]


def _with_subjects(masked: str) -> str:
    """Insert the subject before verbs that share it with the verb before, after a semicolon (used for nothing else)."""
    subject = _SUBJECT.match(masked)
    if subject is None or _PRONOUN.search(masked, 0, subject.start(1)) or _MODAL.search(masked):
        return masked
    kept, rest = masked[: subject.end()], masked[subject.end() :]
    return kept + _SHARED_SUBJECT.sub(lambda _: f"; {subject[1]} ", rest)
