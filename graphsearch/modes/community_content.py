"""The content of a community, as numbered lines that a language model is shown; its fingerprint, and its summary."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Keys
from graphsearch.columns.key_index import KeyIndex
from graphsearch.model import Community, CommunitySummary, ElementKind, ElementRef, Memory, Relation
from graphsearch.modes.result import Sentence, Source
from graphsearch.modes.summary_writer import MEMORIES, Line, Numbered
from graphsearch.text.rendering import memory_line, relation_line, safe_text

MEMBERS: Final = 500
"""Most important members of a community whose relations are read."""
FAN_OUT: Final = 25
"""Strongest relations that are read of each, in either direction."""
RELATIONS: Final = 200
"""Most relations that are shown, those between the best connected members first."""
_FORM: Final = "community/1"
"""The form of the content; with another one, every community is summarised again."""


@attrs.frozen(kw_only=True)
class CommunityContent:
    """What a summary of a community is made of."""

    community: Community
    sources: Sequence[Source]
    fingerprint: str

    @property
    def summary(self) -> CommunitySummary | None:
        """The stored summary, if it is one of this content."""
        stored = self.community.summary
        return stored if stored is not None and stored.fingerprint == self.fingerprint else None

    def summary_lines(self, numbers: Numbered) -> list[Line]:
        """The sentences of its `summary`, with the sources that they cite, numbered with all others of an answer."""
        lines = {source.element: source_text(source) for source in self.sources}
        found = []
        for each in self.summary.sentences if self.summary else ():
            cited = [numbers.of(ref, lines[ref]) for ref in dict.fromkeys(each.cites) if ref in lines]
            if cited and (text := safe_text(each.text)):
                sources = tuple(sorted(cited, key=attrgetter("number")))
                found.append(Line.of_sentence(Sentence(text=text, sources=sources)))
        return found


async def content_of(community: Community, reader: Reader) -> CommunityContent | None:
    """The content of a community in a view; None if it has no relation that holds."""
    relations = await reader.relations(await relations_among(community, reader))
    degrees = Counter(end for each in relations for end in (each.source_id, each.target_id))
    relations.sort(key=lambda each: (-degrees[each.source_id] - degrees[each.target_id], each.id))
    sources = await _numbered(relations[:RELATIONS], reader)
    if not sources:
        return None
    shown = sorted((*each.element, source_text(each)) for each in sources)
    content = json.dumps([_FORM, list(map(str, community.members)), shown], ensure_ascii=False)
    digest = hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()
    return CommunityContent(community=community, sources=sources, fingerprint=digest)


async def relations_among(community: Community, reader: Reader) -> Keys:
    """Relations that hold between the most important members of a community."""
    members = await reader.locate(community.members)
    chief = members.keep(np.sort(np.lexsort((members.keys, -members.importance))[:MEMBERS]))
    rows = (await reader.expand(chief.keys, FAN_OUT)).rows
    return np.unique(rows.relations[KeyIndex(chief.keys).of(rows.far) != NONE])


def source_text(source: Source) -> str:
    """The line without its number, which depends on the order."""
    return source.line.partition(" ")[2]


async def _numbered(relations: Sequence[Relation], reader: Reader) -> Sequence[Source]:
    """Each relation followed by the first memories behind it; each element once."""
    ends = {end for each in relations for end in (each.source_id, each.target_id)}
    entities = {each.id: each for each in await reader.get_entities(sorted(ends))}
    cited = {key for each in relations for key in each.evidence[:MEMORIES]}
    memories: Mapping[str, Memory] = {each.id: each for each in await reader.get_memories(sorted(cited))}
    numbers = Numbered()
    for each in relations:
        line = relation_line(entities[each.source_id], each, entities[each.target_id])
        numbers.of(ElementRef(ElementKind.RELATION, str(each.id)), line)
        for key in each.evidence[:MEMORIES]:
            if key in memories and (line := memory_line(memories[key])):
                numbers.of(ElementRef(ElementKind.MEMORY, key), line)
    return numbers.sources
