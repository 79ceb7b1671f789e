"""Written names in a question, known to the graph or not: capitalised, quoted, or shaped like code.

Names are found by the rules that find them in memories (`graphsearch.ingest.extract.rules`), so that a question and a
memory agree on what a name is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

import attrs

from graphsearch.text.marked_names import marked_names
from graphsearch.text.name_spans import NameSpan, capitalised_names
from graphsearch.text.sentences import sentences

MAX_READ: Final = 4_000
"""Characters of a question that are searched for names: a longer text is pasted."""


class NameKind(StrEnum):
    """The form of a written name."""

    PROPER_NOUN = "proper_noun"
    QUOTED = "quoted"
    CODE = "code"
    """In backticks, or shaped like code, a path or an address."""
    HANDLE = "handle"


@attrs.frozen(kw_only=True)
class Named:
    """Characters [start, end) of a question that are written as a name.

    ``tentative``: a single word that begins a sentence, which would be capitalised anyway.
    """

    text: str
    start: int
    end: int
    kind: NameKind
    tentative: bool = False


_QUOTED: Final = re.compile(r"\"([^\"\n]{2,100})\"|“([^”\n]{2,100})”|«([^»\n]{2,100})»")
# snake_case, dotted.names of more than initials, camelCase, and calls().
_CODE: Final = re.compile(
    r"(?<![\w.@/`])((?:[A-Za-z]\w*_\w+|_\w+|[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+|[a-z]\w*[a-z][A-Z]\w*|[A-Za-z_]\w*(?=\(\)))"
    r"(?:\.[A-Za-z_]\w*)*)(?!\w)"
)


def named(question: str) -> tuple[Named, ...]:
    """The written names of a question in order, not overlapping: whole quoted titles, then code, then proper nouns."""
    text = question[:MAX_READ]
    found: list[Named] = []
    for reader in (_quoted, _marked, _code, _proper_nouns):
        for name in reader(text, tuple(found)):
            if not any(name.start < other.end and other.start < name.end for other in found):
                found.append(name)
    return tuple(sorted(found, key=lambda each: each.start))


def _quoted(text: str, _: Sequence[Named]) -> Iterator[Named]:
    for match in _QUOTED.finditer(text):
        yield _spanned(text, *match.span(match.lastindex or 0), NameKind.QUOTED)


def _marked(text: str, _: Sequence[Named]) -> Iterator[Named]:
    for mark in marked_names(text, 0, len(text)):
        if mark.named:
            kind = NameKind.HANDLE if mark.pattern == "handle" else NameKind.CODE
            yield _spanned(text, mark.start, mark.end, kind)


def _code(text: str, _: Sequence[Named]) -> Iterator[Named]:
    for match in _CODE.finditer(text):
        yield _spanned(text, *match.span(1), NameKind.CODE)


def _proper_nouns(text: str, taken: Sequence[Named]) -> Iterator[Named]:
    blocked = [
        NameSpan(start=each.start, end=each.end, type="", confidence=1.0, pattern=each.kind.value) for each in taken
    ]
    for sentence in sentences(text):
        for found in capitalised_names(text, sentence.start, sentence.end, blocked):
            yield _spanned(text, found.start, found.end, NameKind.PROPER_NOUN, tentative=found.tentative)


def _spanned(text: str, start: int, end: int, kind: NameKind, *, tentative: bool = False) -> Named:
    return Named(text=text[start:end], start=start, end=end, kind=kind, tentative=tentative)
