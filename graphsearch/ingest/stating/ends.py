"""The ends of a stated fact: the names and values that its words mean, in a scope and a memory."""

from __future__ import annotations

import re
from typing import Final

from graphsearch.ingest.frames.table import folded, listed, table, tokens, words
from graphsearch.ingest.stating.dates import is_date
from graphsearch.ingest.stating.phrases import COMMON, Kind
from graphsearch.ingest.stating.scope import ORGANISATION, PERSON, VALUE, End, Scope, kind_of
from graphsearch.model import Memory
from graphsearch.model.identity import snake_case
from graphsearch.names.vocabulary import is_given_name

LONGEST_PHRASE: Final = 3
"""Most words of a lower-case name."""
VALUED: Final = Kind(VALUE, True)
SPLIT: Final = re.compile(r", ?(?:and )?| (?:and|\+|as well as|/) |; ?")
_LEAD: Final = re.compile(
    r"\A(?:(?:the|a|an|our|their|his|her|its|my|your|some|this|that|both) )?"
    r"(?:(?:what's left|rest|parts?|most|all|use|\d{1,9} ?\w{0,12}) of )?",
    re.IGNORECASE,
)
_ROLE: Final = re.compile(r"([\w &-]{2,40}?) (?:of|at|for) (\S.*)", re.IGNORECASE)
_PLACED: Final = re.compile(r"(\S.*?) (?:in|at|on|from|via|with|over|near) (\w.*)")
_AMOUNT: Final = re.compile(
    r"(?:about |around |over |under |up to |at least |[~<>≈])?[£$€¥]? ?\d[\d.,/]* ?(?:%|[a-zA-Z€£$]{1,3}\b)?"
    r"(?: (?:(?:per|a|an) )?(?!of\b)[a-z€£$%/]+){0,3}"
)
_QUOTES: Final = "\"'“”‘’`"


def find_ends(
    written: str, memory: Memory, type_: str | None, scope: Scope, *, relation: str = ""
) -> tuple[list[End], str]:
    """The names and values that an end states, and the role that it puts before them: "COO of Arden".

    ``relation`` is the phrase before an object.
    """
    text = " ".join(written.split()).strip(_QUOTES + " .!")
    if is_pronoun(text) or scope.known(text, memory):
        return [_end(text, type_, memory, scope)], ""
    if (kind_of(type_) if type_ else "") == VALUE or (not type_ and is_value(text)):
        return [End(text, None, VALUED)], ""
    text, role = _LEAD.sub("", text), ""
    match = _ROLE.fullmatch(text) if relation and is_copular(relation) and not scope.known(text, memory) else None
    if match and is_role(match[1]):
        role, text = match[1], _LEAD.sub("", match[2])
    if not scope.known(text, memory):
        parts = [part for part in SPLIT.split(text) if part.strip()]
        if len(parts) > 1 and all(_may_be_name(part, scope) for part in parts):
            return [_end(part, type_, memory, scope) for part in parts], role
        if (match := _PLACED.fullmatch(text)) and (
            (relation and match[2][:1].isupper()) or scope.known(match[1], memory)
        ):
            text = match[1]
    return [_end(text, type_, memory, scope)], role


def _may_be_name(part: str, scope: Scope) -> bool:
    return part[:1].isupper() or scope.known(part) is not None or len(part.split()) < LONGEST_PHRASE


def _end(written: str, type_: str | None, memory: Memory, scope: Scope) -> End:
    if is_pronoun(written):
        return _meant_by(folded(written), memory, scope) or End(written)
    name = scope.known(written, memory)
    if type_:
        return End(written, name, Kind(kind_of(type_), True), snake_case(type_))
    if name is not None:  # a form that several have becomes none of one
        return End(written if scope.known(written) is name else name.name, name, name.kind)
    is_small = written == written.lower() and written[:1].islower()
    if is_small and memory.text.islower() and " " not in written and not written.endswith("ing"):
        is_small = False  # where nothing has capitals, names have none
    return End(written, None, Kind(guess_kind(written) or (COMMON if is_small else "")))


def _meant_by(pronoun: str, memory: Memory, scope: Scope) -> End | None:
    """Whom a pronoun means: the speaker, the employer of the speaker, or who was last spoken of."""
    speaker = scope.known(memory.speaker) if memory.speaker else None
    if pronoun in words("pronouns_i"):
        return End(memory.speaker, speaker, Kind(PERSON, True)) if speaker else None
    if pronoun in words("pronouns_we"):
        meant = [each.target for each in scope.about(speaker) if each.is_of(speaker, "works_at") and not each.until]
    else:
        others, one = (each for each in scope.recent[-30:] if each is not speaker), pronoun in words("pronouns_person")
        meant = [each for each in others if (each.kind.kind == PERSON) is one]
    return next((End(name.name, name, name.kind) for name in reversed(meant) if not isinstance(name, str)), None)


def is_pronoun(text: str) -> bool:
    """Whether a text is a pronoun, which names nothing by itself."""
    return any(folded(text) in words(f"pronouns_{each}") for each in ("i", "we", "person", "they"))


def is_value(text: str) -> bool:
    """Whether a text is a state, a date, a number or an amount."""
    return is_state(text) or bool(_AMOUNT.fullmatch(text)) or is_date(text)


def is_state(text: str) -> bool:
    """Whether a text is a state: "red", "on hold"."""
    key = folded(text).strip()
    return not words("statuses").isdisjoint((snake_case(key), *key.split()[:1]))


def is_copular(relation: str) -> bool:
    """Whether a phrase only says that somebody is, or becomes, something."""
    plain = {each for each in tokens(relation) if each not in words("soft") | words("determiners")}
    begun = {word for cue in listed("begun") for word in cue.split()}
    return plain <= words("be") | words("have") | words("offices") | begun


def is_role(text: str) -> bool:
    """Whether a text names a job or an office: a noun of the table that people hold."""
    key = folded(text)
    frames = [each for noun in (key, key.split()[-1]) for each in table().nouns.get(noun, ())]
    return any(not each.inverse and each.source.startswith("p") and "o" in each.target for each in frames)


def guess_kind(text: str) -> str:
    """The kind that the last word of a name tells, or the first: "the night crew", "Arden Clinic", "Ada Lund"."""
    *before, last = folded(text).split() or [""]
    capitals = [each[:1].isupper() for each in text.split()] or [False]
    loose = last in words("loose_groups") and before[-1:] != ["working"]
    if last in words("groups") and not (capitals[-1] and loose):
        return "group"
    if before and capitals[-1] and (last in words("firms") or "&" in before):
        return ORGANISATION
    return PERSON if len(before) <= 2 and all(capitals) and is_given_name((before or [last])[0]) else ""  # noqa: PLR2004
