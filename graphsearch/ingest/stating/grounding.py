"""Whether a text proves a stated fact, or says otherwise: the text is read with the table that reads the fact."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

import attrs

from graphsearch.ingest.frames.table import bases, folded, places, words
from graphsearch.ingest.stating.phrases import SYMMETRIC, Kind, Phrase, read_phrase
from graphsearch.ingest.stating.scope import Name, Scope
from graphsearch.model import Memory, Span

FARTHEST_WORD: Final = 5
"""How far apart in a text two words may be that follow each other in a quote."""
MISSING: Final = 5
"""Of so many words of a quote one may be another than the text's."""
FARTHEST: Final = 60
"""Most characters between two ends that one phrase relates."""
_WORD: Final = re.compile(r"\w+")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s|\n")
_REPLACED: Final = re.compile(r"\b(?:instead of|in place of|rather than|not|unlike|replacing|replaces|from) (?:the )?$")
_AHEAD: Final = re.compile(r"\b(?:will|'ll|gonna|(?:going|plans?|wants?|hopes?|intends?) to) (\w+)")
_DENIED: Final = re.compile(
    r"\b(?:not|never|no longer|isn't|isnt|instead of|rather than) (?:the |a |an |on |in |using |at |with )?$"
)
_WISHED: Final = re.compile(
    r"\b(?:wants?|wanted|hopes? for|hoping for|would (?:like|love)|wish(?:es)? for|considering|thinking (?:of|about))"
    r" (?:to \w+ )?(?:the |a |an )?$"
)


@attrs.frozen
class Proof:
    """Where the quote of a fact is, why the text does not prove it, and what the text says against it."""

    quoted: Span | None
    why: tuple[str, ...] = ()
    against: tuple[str, ...] = ()


def find_quote(quote: str, text: str) -> Span | None:
    """Where a quote stands in a text, apart from white space, case, punctuation and a few words; None if nowhere."""
    sought = [each[0] for each in _WORD.finditer(_even(quote))]
    found = [(match[0], match.start(), match.end()) for match in _WORD.finditer(_even(text))]
    standing: dict[str, list[int]] = {}
    for at, (word, _, _) in enumerate(found):
        standing.setdefault(word, []).append(at)
    for first in standing.get(sought[0], [])[:50] if sought else ():
        last, missed = first, 0
        for word in sought[1:]:
            near = next((at for at in standing.get(word, ()) if 0 < at - last <= FARTHEST_WORD), None)
            last, missed = (last, missed + 1) if near is None else (near, missed)
        if missed <= len(sought) // MISSING:
            return Span(start=found[first][1], end=found[last][2])
    return None


def _even(text: str) -> str:
    """A text folded character by character, so that places stay."""
    return "".join(folded(each)[:1] or each for each in text)


def prove(
    memory: Memory,
    quote: str | None,
    ends: tuple[Name, Name | str],
    phrase: Phrase,
    scope: Scope,
    *,
    seen: str,
    over: bool,
) -> Proof:
    """Whether the text of a memory, or ``seen`` of its session, proves a fact of two ends; and what speaks against it.

    ``ends`` are source and target as they are related, not as the phrase puts them; ``over``: whether it is over.
    """
    text, why = folded(memory.text), []
    quoted = find_quote(quote, memory.text) if quote else None
    if quote and quoted is None:
        why.append("the quote is not in the text")
    speaker = scope.known(memory.speaker) if memory.speaker else None
    here = [find_mentions(end, text, speaker) or find_mentions(end, seen, None) for end in ends]
    if quoted is None and not any(here):
        why.append("neither end is in the text")
    for end, stands in zip(ends, here, strict=True):
        if isinstance(end, Name) and not stands and not scope.knows(end):
            why.append(f"{end.name!r} is named neither in the text nor before")
    sentence = _sentence(memory.text, quoted, ends, speaker)
    against = () if over or not sentence else _against(sentence, *ends, phrase, scope, speaker)
    return Proof(quoted, tuple(why), tuple(against))


def find_mentions(name: Name | str, text: str, speaker: Name | None) -> list[tuple[int, int]]:
    """Where a name or a value stands in a folded text: by a form, by its first word, by "I" of the speaker."""
    forms = {folded(name)} if isinstance(name, str) else name.forms | {_first_word(each) for each in name.forms}
    if name is speaker:
        forms |= words("pronouns_i") | {"i'm", "i've", "i'll", "i'd", "im", "ive"}
    return sorted({place for form in forms for place in places(form, text)})


@lru_cache(maxsize=1 << 14)
def _first_word(form: str) -> str:
    first, *others = form.split()[:2] or [""]
    common = words("titles") | words("determiners") | words("prepositions") | words("negations") | words("soft")
    return first if others and first not in common else ""


def _sentence(text: str, quoted: Span | None, ends: tuple[Name, Name | str], speaker: Name | None) -> str:
    """The sentence around a quote; without one, the shortest that names both ends."""
    if quoted is not None:
        before = max((match.end() for match in _SENTENCE.finditer(text, 0, quoted.start)), default=0)
        after = _SENTENCE.search(text, quoted.end)
        return " ".join(folded(text[before : after.start() if after else len(text)]).split())
    parts = (" ".join(folded(each).split()) for each in _SENTENCE.split(text))
    return min((each for each in parts if all(find_mentions(end, each, speaker) for end in ends)), key=len, default="")


def _against(
    sentence: str, source: Name, target: Name | str, phrase: Phrase, scope: Scope, speaker: Name | None
) -> Iterator[str]:
    """What the sentence says that contradicts a fact that holds: single words, whatever its type, and its phrases."""
    before = [sentence[max(0, start - 30) : start] for start, _ in find_mentions(target, sentence, speaker)]
    if before and all(_DENIED.search(each) for each in before):
        yield "the text denies it"
    if before and all(_WISHED.search(each) for each in before):
        yield "the text wishes it"
    if sentence.rstrip(" \"'”").endswith("?"):
        yield "the text asks it"
    ahead = {base for match in _AHEAD.finditer(sentence) for base in bases(match[1])}
    if phrase.is_past and phrase.cues.isdisjoint(("planned", "wished")) and ahead & bases(phrase.normal.split("_")[0]):
        yield "the text plans it"
    if not phrase.type or phrase.type in SYMMETRIC:
        return
    said = [each for each in _readings(sentence, source, target, scope, speaker) if each[1].type == phrase.type]
    if any((first, second) == (source, target) for first, _, second in said):
        return
    there = find_mentions(source, sentence, speaker)
    if any((first, second) == (target, source) for first, _, second in said):
        yield "the text says it the other way round"
    elif all(_REPLACED.search(sentence[max(0, start - 20) : start]) for start, _ in there):
        others = (first for first, each, second in said if second == target and not each.cues - {"begun"})
        yield from (f"the text says {first}" for first in list(others)[:1])


def _readings(
    sentence: str, source: Name, target: Name | str, scope: Scope, speaker: Name | None
) -> Iterator[tuple[Name | str, Phrase, Name | str]]:
    """What the words between neighbouring names of a sentence state: source, phrase, target."""
    said = _WORD.findall(sentence)
    begun = [
        each
        for each in scope.with_words(said)
        if not {word for form in each.forms for word in _WORD.findall(form)[:1]}.isdisjoint(said)
    ]
    named = [each for each in (*begun, speaker) if each and not each.name.islower()]
    standing = {place: name for name in (*named, source, target) for place in find_mentions(name, sentence, speaker)}
    apart: list[tuple[int, int, Name | str]] = []
    for (start, end), name in sorted(standing.items(), key=lambda each: (each[0][0], -each[0][1])):
        if not apart or start >= apart[-1][1]:
            apart.append((start, end, name))
    for (_, end, first), (start, _, second) in pairwise(apart):
        if start - end > FARTHEST:
            continue
        reading = read_phrase(sentence[end:start], _kind(first), _kind(second))
        if reading.type and not reading.left and not reading.noun:
            yield (second, reading, first) if reading.inverse else (first, reading, second)


def _kind(end: Name | str) -> Kind:
    return end.kind if isinstance(end, Name) else Kind("value", True)
