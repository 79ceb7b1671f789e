"""Markdown and plain text, split into memories of limited size, with ids that edits elsewhere do not change."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final

from graphsearch.model import Memory
from graphsearch.model import validation as check
from graphsearch.text.calendar import Precision
from graphsearch.text.dates import NaturalDates, Role
from graphsearch.text.tokens import sentence_starts

CHUNK_SIZE: Final = 1_200
"""Default characters of a chunk: about 200 words."""
MIN_SIZE: Final = 100
_HEADING: Final = re.compile(r"[ ]{0,3}(#{1,6})[ \t]++([^\n]*+)")
MAX_HEADING: Final = 1_000
"""Most characters of a heading, which each chunk below it repeats: a longer line is text."""
_UNDERLINE: Final = re.compile(r"[ ]{0,3}(=+|-{2,})[ \t]*")
_FENCE: Final = re.compile(r"[ ]{0,3}(```+|~~~+)")
MIN_NOTES: Final = 3
"""Fewest lines that can be notes, one in a line."""
_ENDS: Final = tuple(".!?)")
_ITEM: Final = re.compile(r"(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(?=\S)")
_DECORATION: Final = re.compile(r"[*_`]+|!?\[([^][]*)\]\([^)[]*\)")
_SEPARATOR: Final = "\x1f"
_DATES: Final = NaturalDates()
_WRITTEN_DAY: Final = 40
"""The most characters that a day is written in, with its weekday."""
_WEEKDAY: Final = re.compile(
    r"[\W_]*+(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?[,.]?)?+[\W_]*+", re.IGNORECASE
)


def document_memories(
    text: str,
    *,
    document_id: str,
    subject: str = "",
    source: str = "",
    occurred_at: datetime | None = None,
    markdown: bool = True,
    notes: bool = True,
    size: int = CHUNK_SIZE,
) -> tuple[Memory, ...]:
    """The chunks of a document, in order; none is blank or longer than ``size`` characters.

    Paragraphs are joined as long as they fit; one that is too long is split between sentences, and a sentence that is
    too long at a space. What is a list, by its signs or, with ``notes``, by its lines, has a chunk for each item: each
    says something else. In ``markdown`` a chunk never extends past a heading; its subject is the nearest heading that
    is more than a day, else ``subject``, and its attribute ``headings`` has all headings above it. ``position`` counts
    the chunks of a document from 0. A chunk occurred on the day that it, one before it in its section, or a heading
    above begins with, as in a log and in minutes, else at ``occurred_at``.

    An id is derived from ``document_id``, the headings, the chunk's text, and the number of equal chunks before it: an
    edit changes the ids of the chunks it touches, and never those of another section. Raises `InvalidInputError` for a
    document without an id, or a size below `MIN_SIZE`.
    """
    check.refuse("document", check.text("document_id", document_id), check.number("size", size, MIN_SIZE))
    seen: Counter[tuple[str, ...]] = Counter()
    memories: list[Memory] = []
    for headings, lines in _sections(text) if markdown else (((), text.splitlines()),):
        days = [_day_before(each) for each in headings]
        subjects = [each for each, (_, rest) in zip(headings, days, strict=True) if rest]
        at = next((day for day, _ in reversed(days) if day), occurred_at)
        for day, chunk in _packed(_paragraphs(lines), size, notes):
            at = day or at
            key = (*headings, chunk)
            digest = hashlib.sha256(_SEPARATOR.join((document_id, *key, str(seen[key]))).encode()).hexdigest()
            memories.append(
                Memory(
                    id=f"{document_id}#{digest[:16]}",
                    text=chunk,
                    subject=subjects[-1] if subjects else subject,
                    position=len(memories),
                    occurred_at=at,
                    source=source,
                    attributes={"headings": list(headings)} if headings else {},
                )
            )
            seen[key] += 1
    return tuple(memories)


def _day_before(text: str) -> tuple[datetime | None, str]:
    """The day or time that a text begins with, and the rest of it."""
    item = _ITEM.match(text)
    start = item.end() if item else 0
    found = _DATES.find(text[start : start + _WRITTEN_DAY], None)
    if not found or found[0].role is not Role.AT or found[0].precision not in (Precision.DAY, Precision.TIME):
        return None, text
    if not _WEEKDAY.fullmatch(text, start, start + found[0].start):
        return None, text
    return found[0].valid_from, text[start + found[0].end :].strip(" \t)]*_:,;.–—-")


def _fenced(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Lines, each with whether it is of a fenced block of code, or bounds one."""
    fence = ""
    for line in lines:
        bound = _FENCE.match(line)
        yield line, bool(fence or bound)
        if bound:
            fence = ("" if bound[1].startswith(fence) else fence) if fence else bound[1]


def _sections(text: str) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The parts of a Markdown text between its headings: the headings above, the outermost first, and the lines."""
    headings: list[tuple[int, str]] = []
    lines: list[str] = []
    for line, is_code in _fenced(text.splitlines()):
        if is_code or (heading := _heading(line, lines)) is None:
            lines.append(line)
            continue
        yield tuple(name for _, name in headings), lines
        level, name = heading
        headings = [(above, known) for above, known in headings if above < level] + ([(level, name)] if name else [])
        lines = []
    yield tuple(name for _, name in headings), lines


def _heading(line: str, before: list[str]) -> tuple[int, str] | None:
    """The level and text of the heading in a line, or in the one before it if underlined, which is removed."""
    if len(line) > MAX_HEADING:
        return None
    marked = _HEADING.fullmatch(line)
    if marked:
        return len(marked[1]), _plain(marked[2].rstrip(" \t").rstrip("#¶§"))
    underlined = _UNDERLINE.fullmatch(line) if before and 0 < len(before[-1].strip()) <= MAX_HEADING else None
    if underlined and not "".join(before[-2:-1]).strip():
        return (1 if underlined[1][0] == "=" else 2), _plain(before.pop())
    return None


def _plain(heading: str) -> str:
    return " ".join(_DECORATION.sub(lambda match: match[1] or "", heading).split())


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Runs of lines between blank ones; a fenced code block is one run, with its blank lines."""
    run: list[str] = []
    for line, is_code in (*_fenced(lines), ("", False)):
        if line.strip() or is_code:
            run.append(line)
        elif run:
            yield "\n".join(run)
            run = []


def _items(paragraph: str, notes: bool) -> list[str]:
    """The items of a list, each with what is indented below it, and what stands before them; else the paragraph."""
    lines = paragraph.split("\n")
    starts = [at for at, line in enumerate(lines) if _ITEM.match(line)]
    if notes and not starts and _is_of_notes(lines):
        starts = [*range(len(lines))]
    bounds = sorted({0, *starts, len(lines)})
    return ["\n".join(lines[start:end]) for start, end in pairwise(bounds)]


def _is_of_notes(lines: Sequence[str]) -> bool:
    """Whether most lines end a sentence, or far from where they must: lines of prose end where the next is too long."""
    far = max(map(len, lines)) * 3 / 4
    ends = [len(line) + len(below.partition(" ")[0]) < far or line[-1:] in _ENDS for line, below in pairwise(lines)]
    return len(lines) >= MIN_NOTES and sum(ends) * 2 > len(ends) and not any(line.startswith("|") for line in lines)


def _packed(paragraphs: Iterable[str], size: int, notes: bool) -> Iterator[tuple[datetime | None, str]]:
    """The chunks, each with the day that it begins with: what begins with another one is of another chunk."""
    day, chunk = None, ""
    for paragraph in paragraphs:
        items = [paragraph] if _FENCE.match(paragraph) else _items(paragraph.strip("\n"), notes)
        for part in (part for item in items for part in _parts(item.strip(), size)):
            begins, _ = _day_before(part)
            joined = f"{chunk}\n\n{part}"
            if chunk and not begins and len(joined) <= size and len(items) == 1:
                chunk = joined
                continue
            if chunk:
                yield day, chunk
            day, chunk = begins, part
        if chunk and len(items) > 1:
            yield day, chunk
            chunk = ""
    if chunk:
        yield day, chunk


def _parts(paragraph: str, size: int) -> Iterator[str]:
    """The parts of a paragraph, split after a sentence or a line of code, else at a space, else anywhere."""
    if _FENCE.match(paragraph):
        ends = [match.end() for match in re.finditer("\n", paragraph)]
    else:
        ends = sentence_starts(paragraph) if len(paragraph) > size else []
    start = last = 0
    for end in (*ends, len(paragraph)):
        if end - start > size and last > start:
            yield from _pieces(paragraph[start:last], size)
            start = last
        last = end
    yield from _pieces(paragraph[start:], size)


def _pieces(part: str, size: int) -> Iterator[str]:
    part = part.strip()
    while len(part) > size:
        cut = part.rfind(" ", 1, size + 1)
        cut = size if cut == -1 else cut
        yield part[:cut].rstrip()
        part = part[cut:].lstrip()
    if part:
        yield part
