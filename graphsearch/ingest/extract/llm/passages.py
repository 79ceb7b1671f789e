"""Splitting memories into passages, and passages into the batches of one prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs

from graphsearch.model import Memory, Span
from graphsearch.text.sentences import sentences

PASSAGE: Final = 4_000
"""Maximum characters of a passage: a longer memory is read in several."""


@attrs.frozen(eq=False)
class Passage:
    """A memory, or a part of a long one: characters [start, end) of its text."""

    memory: Memory
    span: Span

    @property
    def text(self) -> str:
        """The text of the passage."""
        return self.memory.text[self.span.start : self.span.end]


def passages(memory: Memory, size: int = PASSAGE) -> Iterator[Passage]:
    """Split a memory into passages of at most ``size`` characters, at the end of a sentence if possible.

    A blank memory has none.
    """
    text, start = memory.text, 0
    ends = [span.end for span in sentences(text)] if len(text) > size else []
    for end in (*ends, len(text)):
        while end - start > size:
            cut = max((each for each in ends if start < each <= start + size), default=start + size)
            yield from _passage(memory, start, cut)
            start = cut
    yield from _passage(memory, start, len(text))


def _passage(memory: Memory, start: int, end: int) -> Iterator[Passage]:
    if memory.text[start:end].strip():
        yield Passage(memory, Span(start=start, end=end))


def batches(
    given: Iterable[Passage], *, most: int, tokens: int, count: Callable[[Passage], int]
) -> Iterator[list[Passage]]:
    """Group passages in order, at most ``most`` and ``tokens`` tokens per batch; a longer passage is alone."""
    batch: list[Passage] = []
    size = 0
    for passage in given:
        needed = count(passage)
        if batch and (len(batch) == most or size + needed > tokens):
            yield batch
            batch, size = [], 0
        batch.append(passage)
        size += needed
    if batch:
        yield batch
