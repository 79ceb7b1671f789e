"""References to entities, by id or by name: the one visible entity that is meant, or an error that offers others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final
from uuid import UUID

from graphsearch.access.reader import Reader
from graphsearch.claims.naming import INDEXED_SIMILARITY, folded_name
from graphsearch.errors import UnknownElementError
from graphsearch.model import Entity, NameMatch
from graphsearch.model.identity import normalise_name
from graphsearch.text.trigrams import MAX_NAME_WORDS, one_letter_off, similarity, spoken_words

EntityRef = UUID | str
"""A reference to an entity: its id, or a name, an alias or words of a name that only one entity has."""
NEAREST: Final = 3
"""Number of names that are offered in place of an unknown one, by its first `FEW` words."""
ALIKE: Final = 0.3
"""The least similarity, of whole names or of two words of theirs: what pg_trgm calls similar by default."""
FEW: Final = 4
LISTED: Final = 10
"""Most entities of one name that are listed."""
MOST: Final = 50
"""Most entities with a word that are compared with a name."""

_Usable = Callable[[Sequence[UUID]], Awaitable[Mapping[UUID, Entity]]]


async def resolve(entity: EntityRef, reader: Reader) -> UUID:
    """The id of the one entity that holds in the view and has that name. Raises `UnknownElementError`."""

    async def holding(ids: Sequence[UUID]) -> Mapping[UUID, Entity]:
        found = await reader.entities((await reader.locate(ids)).keys)
        return {each.id: each for each in found}

    return (await _only(entity, reader, holding)).id


async def known(entity: EntityRef, reader: Reader, *, exactly: bool = False) -> Entity:
    """The same for entities of any time; for a merged one, the entity it was merged into.

    ``exactly``: words of a name do not suffice, since something is to be changed.
    """

    async def final(ids: Sequence[UUID]) -> Mapping[UUID, Entity]:
        return {id_: each for id_ in ids if (each := await _final(id_, reader)) is not None}

    return await _only(entity, reader, final, exactly=exactly)


async def _final(entity_id: UUID, reader: Reader) -> Entity | None:
    """The visible entity that one was finally merged into."""
    found = await reader.get_entities([entity_id])
    while found and found[0].merged_into is not None:
        found = await reader.get_entities([found[0].merged_into])
    return found[0] if found else None


async def _only(entity: EntityRef, reader: Reader, usable: _Usable, *, exactly: bool = False) -> Entity:
    """The only visible entity: by a name, else by an alias, else by words of a name."""
    for look_up in (_called,) if exactly else (_called, _partly_called):
        matches = await look_up(entity, reader)
        finals = await usable(sorted({match.entity_id for match in matches}))
        seen = [(match.alias, finals[match.entity_id]) for match in matches if match.entity_id in finals]
        found = {each.id: each for alias, each in seen if not alias} or {each.id: each for _, each in seen}
        if len(found) == 1:
            return next(iter(found.values()))
        if found:
            listed = "; ".join(f"{each.name!r} ({each.type}) {each.id}" for each in [*found.values()][:LISTED])
            raise UnknownElementError(
                f"{len(found)} entities called {str(entity)!r} in {reader.scope}: {listed}; pass an id"
            )
    nearest = await nearest_names(entity, reader) if isinstance(entity, str) else ()
    offered = f"; the nearest names are {', '.join(map(repr, nearest))}" if nearest else ""
    raise UnknownElementError(f"no entity called {str(entity)!r} in {reader.scope}{offered}; pass an id or a name")


async def _called(entity: EntityRef, reader: Reader) -> Sequence[NameMatch]:
    if isinstance(entity, UUID):
        return [NameMatch(name="", entity_id=entity, alias=False)]
    return await reader.find_names([normalise_name(entity)])


async def _partly_called(entity: EntityRef, reader: Reader) -> Sequence[NameMatch]:
    """The entities with all words of a name in theirs, by a name or an alias alike."""
    words = set(spoken_words(entity)[:MAX_NAME_WORDS]) if isinstance(entity, str) else set()
    found = await reader.find_name_words(sorted(words), limit=MOST)
    having = Counter(match.entity_id for match in found)
    return [NameMatch(name="", entity_id=id_, alias=False) for id_, count in having.items() if count == len(words)]


async def nearest_names(name: str, reader: Reader) -> list[str]:
    """The `NEAREST` names of visible entities that are most similar to an unknown one, best first; `ALIKE` at least."""
    words, wanted = spoken_words(name)[:FEW], folded_name(name)
    if not words:
        return []
    begun = await reader.find_name_words([word[:2] for word in words], prefix=True, limit=MOST)
    misspelt = await reader.find_name_words(sorted({*words, *(each for w in words for each in one_letter_off(w))}))
    similar = await reader.similar_names([name], threshold=INDEXED_SIMILARITY, limit=MOST)
    ids = {each.entity_id for each in (*begun, *misspelt)} | {each.entity_id for each in similar.get(name, ())}
    entities = [each for each in await reader.get_entities(sorted(ids)) if each.merged_into is None]

    def near(each: Entity) -> tuple[float, float]:
        own = [folded_name(name) for name in (each.name, *each.aliases)]
        word = max((similarity(one, other) for one in words for name in own for other in spoken_words(name)), default=0)
        return max(similarity(wanted, name) for name in own), word

    alike = [(sum(both), each.name) for each in entities if max(both := near(each)) >= ALIKE]
    return list(dict.fromkeys(name for _, name in sorted(alike, key=lambda each: (-each[0], each[1]))))[:NEAREST]
