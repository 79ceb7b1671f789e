"""The content of a community, as numbered lines that a language model is shown, and its fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import NONE
from graphsearch.columns.key_index import KeyIndex
from graphsearch.curation.permissions import Access
from graphsearch.model import Community, ElementKind, ElementRef, Memory, Relation
from graphsearch.modes.result import Source
from graphsearch.modes.summary_writer import MEMORIES, Numbered
from graphsearch.text.rendering import memory_line, relation_line

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
    """What a summary of a community is made of; ``version`` is that of the scope when it was read."""

    community: Community
    sources: Sequence[Source]
    fingerprint: str
    version: Hashable


async def content_of(community_id: UUID, member: UUID, access: Access) -> CommunityContent | None:
    """The content of a stored community that ``member`` is in; None if it is gone, or has no relation that holds."""
    async with access.reading() as reader:
        version = await access.store.version()
        stored = await access.store.communities(entity_ids=[member])
        community = next((each for each in stored if each.id == community_id), None)
        if community is None:
            return None
        relations = await _relations(community, reader)
        sources = await _numbered(relations, reader)
    if not sources:
        return None
    shown = sorted((kind.value, key, line) for (kind, key), line in ((each.element, _text(each)) for each in sources))
    content = json.dumps([_FORM, list(map(str, community.members)), shown], ensure_ascii=False)
    digest = hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()
    return CommunityContent(community=community, sources=sources, fingerprint=digest, version=version)


def _text(source: Source) -> str:
    """The line without its number, which depends on the order."""
    return source.line.partition(" ")[2]


async def _relations(community: Community, reader: Reader) -> list[Relation]:
    """Relations that hold between the most important members, between the best connected first."""
    members = await reader.locate(community.members)
    chief = members.keep(np.sort(np.lexsort((members.keys, -members.importance))[:MEMBERS]))
    rows = (await reader.expand(chief.keys, FAN_OUT)).rows
    inside = np.unique(rows.relations[KeyIndex(chief.keys).of(rows.far) != NONE])
    relations = await reader.relations(inside)
    degrees = Counter(end for each in relations for end in (each.source_id, each.target_id))
    relations.sort(key=lambda each: (-degrees[each.source_id] - degrees[each.target_id], each.id))
    return relations[:RELATIONS]


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
