"""The names of a scope that texts contain in any case, as questions find them: whole names and aliases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from graphsearch._support.concurrency import aside
from graphsearch.access.gate import Gate
from graphsearch.access.reader import reading
from graphsearch.claims.naming import UNKNOWN_TYPES, folded_name
from graphsearch.ingest.extract.context import headings_of
from graphsearch.ingest.stating.scope import VALUE
from graphsearch.model import Memory
from graphsearch.model.extracted import KnownName
from graphsearch.model.identity import CASE_SENSITIVE_TYPES
from graphsearch.names.lexicon import GIVEN, ORDINARY, flags
from graphsearch.stores.graph import GraphStore
from graphsearch.text.analyser import STOP_WORDS
from graphsearch.text.tokens import tokens

LONGEST: Final = 4
"""Most words of a name that is looked for."""


async def scope_names(memories: Sequence[Memory], store: GraphStore, gate: Gate) -> list[KnownName]:
    """The visible names that occur in the texts of memories, by one look-up; of unknown type if several differ."""
    runs = await aside(lambda: _runs(memories), sum(len(each.text) for each in memories))
    if not runs:
        return []
    async with reading(store, gate=gate) as reader:
        found = await reader.find_names(runs)
        hits = await reader.locate(sorted({each.entity_id for each in found}))
        known = {each.id: each for each in await reader.entities(hits.keys) if each.type != VALUE}
    types: defaultdict[str, set[str]] = defaultdict(set)
    for match in found:
        if (entity := known.get(match.entity_id)) and entity.type not in CASE_SENSITIVE_TYPES:
            names = (entity.name, *entity.aliases)
            written = next((name for name in names if folded_name(name) == match.name), match.name)
            types[written].add("" if entity.type in UNKNOWN_TYPES else entity.type)
    return [KnownName(name=name, type=some.pop() if len(some) == 1 else "") for name, some in sorted(types.items())]


def _runs(memories: Sequence[Memory]) -> list[str]:
    """The runs of words that may be names, in lower case, and the headings above them."""
    headings = {heading.lower() for memory in memories for heading in headings_of(memory)}
    runs = (run for memory in memories for run in _runs_in(memory.text, spoken=bool(memory.speaker)))
    return sorted(headings.union(runs))


def _runs_in(text: str, *, spoken: bool) -> Iterator[str]:
    """The runs of a text: of prose those with a capital, and single words that are no ordinary ones."""
    spoken, folded = spoken or text.islower(), text.lower()
    if len(folded) != len(text):  # letters of which the small form is longer
        return
    words = [(each, folded[each.start : each.end], flags(each.text)) for each in tokens(text) if each.text[0].isalnum()]
    for place, (first, low, known) in enumerate(words):
        if low in STOP_WORDS:
            continue
        if not known & ORDINARY or known & GIVEN:
            yield low
        named, last = spoken or first.text[0].isupper(), first
        for word, low_, _ in words[place + 1 : place + LONGEST]:
            if word.start - last.end > 1 or text[last.end : word.start] == "\n":
                break
            last = word
            if low_ not in STOP_WORDS and (named or word.text[0].isupper()):
                yield folded[first.start : word.end]
