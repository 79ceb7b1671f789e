"""The citable sources of a summary: triplets and the memories behind them, as numbered lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from graphsearch.access.reader import Reader
from graphsearch.model import ElementKind, ElementRef, Memory, Triplet
from graphsearch.summaries.cited_summary import Source
from graphsearch.text.rendering import memory_line, triplet_line

MEMORIES: Final = 3
"""Most memories shown for one triplet, the first by id."""
LONGEST_LINE: Final = 1_000
"""Most characters of a line; the rest is cut."""

_FORGED: Final = re.compile(r"\[([\d\s,;–-]*)\]")


class Numbered:
    """Assigns numbers from 1, one per element."""

    def __init__(self) -> None:
        self._sources: dict[ElementRef, Source] = {}

    @property
    def sources(self) -> tuple[Source, ...]:
        """All numbered sources, in order."""
        return tuple(self._sources.values())

    def of(self, element: ElementRef, line: str) -> Source:
        """The source of an element, new or known."""
        number = len(self._sources) + 1
        text = labelled(f"[{number}]", line.removeprefix("- "))
        return self._sources.setdefault(element, Source(number=number, element=element, line=text))


def labelled(label: str, text: str) -> str:
    """A rendered text with its number in front, and without anything else that looks like a citation."""
    plain = _FORGED.sub(r"(\1)", text)
    return f"{label} {plain if len(plain) <= LONGEST_LINE else plain[:LONGEST_LINE] + '…'}"


def numbered(triplets: Iterable[Triplet], memories: Mapping[str, Memory], numbers: Numbered) -> list[Source]:
    """Each triplet followed by the memories behind it, distinct."""
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
    """The visible memories behind triplets that existed at the requested time, by id."""
    ids = {id_ for triplet in triplets for id_ in triplet.relation.evidence}
    visible = await reader.gatekeeper.visible_memories(sorted(ids))
    view = reader.view
    return {
        memory.id: memory
        for memory in await reader.store.get_memories(sorted(visible))
        if view.known(memory.created_at, None) and view.holds(memory.occurred_at, None)
    }
