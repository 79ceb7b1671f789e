"""What a summary may cite: triplets and the memories behind them, as numbered lines. Pure but for what is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from graphsearch.access.reader import Reader
from graphsearch.model import ElementKind, ElementRef, Memory, Triplet
from graphsearch.summaries.cited_summary import Source
from graphsearch.text.rendering import memory_line, triplet_line

MEMORIES: Final = 3
"""Memories of one triplet that are shown, the first by id."""
LONGEST_LINE: Final = 1_000
"""Characters of a line; of a longer one the rest is left out."""

_FORGED: Final = re.compile(r"\[([\d\s,;–-]*)\]")


class Numbered:
    """Hands out numbers from 1, to each element one."""

    def __init__(self) -> None:
        self._sources: dict[ElementRef, Source] = {}

    @property
    def sources(self) -> tuple[Source, ...]:
        """All that have a number, in order."""
        return tuple(self._sources.values())

    def of(self, element: ElementRef, line: str) -> Source:
        """The source of an element, new or known."""
        number = len(self._sources) + 1
        text = labelled(f"[{number}]", line.removeprefix("- "))
        return self._sources.setdefault(element, Source(number=number, element=element, line=text))


def labelled(label: str, text: str) -> str:
    """A rendered text with numbers in front, and without any other that looks like a citation."""
    plain = _FORGED.sub(r"(\1)", text)
    return f"{label} {plain if len(plain) <= LONGEST_LINE else plain[:LONGEST_LINE] + '…'}"


def numbered(triplets: Iterable[Triplet], memories: Mapping[str, Memory], numbers: Numbered) -> list[Source]:
    """Each triplet and, after it, the memories behind it, each once."""
    found: dict[ElementRef, Source] = {}
    for triplet in triplets:
        relation = ElementRef(ElementKind.RELATION, str(triplet.relation.id))
        found[relation] = numbers.of(relation, triplet_line(triplet))
        for memory in _behind(triplet, memories):
            if line := memory_line(memory):
                element = ElementRef(ElementKind.MEMORY, memory.id)
                found[element] = numbers.of(element, line)
    return list(found.values())


def _behind(triplet: Triplet, memories: Mapping[str, Memory]) -> Iterator[Memory]:
    cited = (memories[id_] for id_ in triplet.relation.evidence if id_ in memories)
    yield from (memory for memory, _ in zip(cited, range(MEMORIES), strict=False))


async def visible_memories(triplets: Sequence[Triplet], reader: Reader) -> Mapping[str, Memory]:
    """The memories behind triplets that may be seen and were there at the time that is looked at, by id."""
    ids = {id_ for triplet in triplets for id_ in triplet.relation.evidence}
    visible = await reader.gatekeeper.visible_memories(sorted(ids))
    view = reader.view
    return {
        memory.id: memory
        for memory in await reader.store.get_memories(sorted(visible))
        if view.known(memory.created_at, None) and view.holds(memory.occurred_at, None)
    }
