"""Items of a model's answer: validated one by one, and located in the text.

An invalid item does not affect the others. Models cannot count characters, and may invent words, so that quoted words
are searched for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from graphsearch.model import Span
from graphsearch.model import validation as check
from graphsearch.text.rendering import safe_text

MOST: Final = 100
"""Maximum entities, and maximum relations, read from the answer about one passage."""
_SHOWN: Final = 60


class RefusedError(Exception):
    """An item is invalid or not proven by the text; caught in this package, which reports why."""


def numbered(answer: Mapping[str, Any]) -> dict[int, list[Mapping[str, Any]]]:
    """The parts of an answer by the number of their passage."""
    found: dict[int, list[Mapping[str, Any]]] = {}
    listed = answer.get("passages")
    for part in listed if isinstance(listed, list) else ():
        if isinstance(part, Mapping) and isinstance(number := part.get("passage"), int):
            found.setdefault(number, []).append(part)
    return found


def items(parts: Sequence[Mapping[str, Any]], field: str, refused: list[str]) -> Iterator[Mapping[str, Any]]:
    """The first 100 objects listed under a field; others are appended to ``refused``."""
    listed = [item for part in parts if isinstance(found := part.get(field), list) for item in found]
    if len(listed) > MOST:
        refused.append(f"{len(listed) - MOST} of {len(listed)} {field}: only the first {MOST} of a passage are read")
    for item in listed[:MOST]:
        if isinstance(item, Mapping):
            yield item
        else:
            refused.append(f"{field}: {shown(item)} is not an object")


def words(item: Mapping[str, Any], field: str, longest: int) -> str:
    """A text field of an item, whitespace collapsed, empty if missing. Raises `RefusedError` for an invalid value."""
    value = item.get(field, "")
    fault = check.text(field, value, empty=True)
    if fault is not None:
        raise RefusedError(fault)
    if len(value) > longest:
        raise RefusedError(f"{field} is longer than {longest} characters")
    return " ".join(value.split())


def shown(value: object) -> str:
    """A value for a report, on one line and truncated."""
    return repr(safe_text(str(value)[:_SHOWN]))


# -- places in the text -----------------------------------------------------------------------------------------------

MOST_PLACES: Final = 50
"""Maximum occurrences of one name."""


def places(words: str, text: str, within: Span) -> list[Span]:
    """The occurrences of words in a text, exact up to whitespace; at most 50.

    In scripts with upper and lower case, not within longer words: "Ada" does not occur in "Adam".
    """
    found = (span for span in _occurrences(words, text, within) if not _cuts_a_word(text, span))
    return [span for span, _ in zip(found, range(MOST_PLACES), strict=False)]


def outermost(found: Iterable[tuple[str, Span]]) -> list[tuple[str, Span]]:
    """Names with their spans in order, without those within the span of a longer name."""
    kept: list[tuple[str, Span]] = []
    for name, span in sorted(found, key=lambda each: (each[1].start, -each[1].end)):
        if not kept or span.end > kept[-1][1].end:
            kept.append((name, span))
    return kept


def _occurrences(words: str, text: str, within: Span) -> Iterator[Span]:
    pattern = r"\s+".join(map(re.escape, words.split()))
    if pattern:
        for match in re.compile(pattern).finditer(text, within.start, within.end):
            yield Span(start=match.start(), end=match.end())


def _cuts_a_word(text: str, span: Span) -> bool:
    edges = (text[edge - 1 : edge + 1] for edge in (span.start, span.end) if 0 < edge < len(text))
    return any(all(map(_of_words, edge)) for edge in edges)


def _of_words(character: str) -> bool:
    """Whether a character is a digit or a letter of a script with upper and lower case."""
    return character.isdigit() or character.lower() != character.upper()
