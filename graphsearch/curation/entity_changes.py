"""Change entities: merge two of them, undo a merge, and correct one.

A corrected entity keeps its id, and is embedded again if the text that is embedded changes. An entity that is only
named by memories takes its name and type from its mentions until its name is corrected or its type is set to an unknown
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict
from uuid import UUID

import attrs

from graphsearch.access.reader import EntityRef, Reader, known
from graphsearch.claims.naming import folded_name
from graphsearch.curation.permissions import Access
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import EmbeddingModelError, InvalidInputError, MissingDependencyError
from graphsearch.health.keeping import follow_repair
from graphsearch.model import (
    Action,
    AssertedEntity,
    Batch,
    Entity,
    Memory,
    Merge,
    Relation,
    Vector,
)
from graphsearch.model.reports import refuse_merge
from graphsearch.protocols import Embedder
from graphsearch.text.bm25 import embedding_text


class Corrections(TypedDict, total=False):
    """The options of `Curator.update_entity`: the fields to change; fields not given stay as they are.

    * ``name``: the new name; the old one becomes an alias.
    * ``type`` and ``description``: the new ones.
    * ``aliases``, ``labels`` and ``attributes``: the complete new values. Aliases found in memories are shown as well.
    * ``importance_weight``: how much the entity matters, in [0, 1].
    """

    name: str
    type: str
    description: str
    aliases: Iterable[str]
    labels: Iterable[str]
    attributes: Mapping[str, Any]
    importance_weight: float


async def merge_entities(
    source: EntityRef, target: EntityRef, access: Access, *, dry_run: bool = False, retype: bool = False
) -> Merge:
    """See `graphsearch.curation.Curator.merge_entities`."""
    async with access.reading() as reader:
        one, other = [await as_stored(end, reader) for end in (source, target)]
        relations, memories = await moving_with(one, access, reader)
        mentions, claims = await _visible_proofs(one.id, relations, reader) if access.gated else (0, 0)
    await access.demand(Action.MERGE, [one, other, *relations, *memories])
    if access.gated:
        refuse_merge(one.id, other.id, one, other, retype=retype)  # by shown types: hidden memories may state others
    merge = await access.store.merge(one.id, other.id, dry_run=dry_run, retype=retype or access.gated)
    if not dry_run:
        await follow_repair(access.store)
    if not access.gated:
        return merge
    return attrs.evolve(merge, mentions=mentions, claims=claims, relations=len(relations))


async def _visible_proofs(entity_id: UUID, relations: Sequence[Relation], reader: Reader) -> tuple[int, int]:
    """How many visible mentions and claims an entity has, given its visible relations."""
    mentions = await reader.mentions(entity_ids=[entity_id])
    proofs = {id_ for each in relations for id_ in each.evidence}.union(each.memory_id for each in mentions)
    stated = await reader.claims(memory_ids=sorted(proofs))
    return len(mentions), sum(entity_id in (each.source_id, each.target_id) for each in stated)


async def as_stored(entity: EntityRef, reader: Reader) -> Entity:
    """The entity itself, even if it was merged into another that is visible: the store decides what that means."""
    final = await known(entity, reader, exactly=True)
    return (await reader.get_entities([entity]))[0] if isinstance(entity, UUID) else final


async def moving_with(entity: Entity, access: Access, reader: Reader) -> tuple[Sequence[Relation], Sequence[Memory]]:
    """The visible relations of an entity and memories that mention it, which move with it; none without a gate."""
    if not access.gated:
        return (), ()
    relations = await reader.shown(await access.stored_relations(entity.id))
    mentions = await reader.mentions(entity_ids=[entity.id])
    return relations, await reader.get_memories(sorted({mention.memory_id for mention in mentions}))


async def corrected(given: AssertedEntity, name: str, corrections: Corrections, reader: Reader) -> Entity:
    """The entity, so far shown by a name, after the corrections. Raises `InvalidInputError` that names every fault."""
    after = attrs.evolve(given.entity, **corrections)
    aliases = [alias for alias in after.aliases if folded_name(alias) != folded_name(after.name)]
    known_as = {folded_name(name) for name in (after.name, *aliases)}
    if folded_name(name) not in known_as:
        mentions = await reader.mentions(entity_ids=[after.id]) if given.named else ()
        if all(folded_name(mention.surface) != folded_name(name) for mention in mentions):  # else one while they exist
            aliases.append(name)
    return attrs.evolve(after, aliases=aliases)


async def refuse_namesake(after: Entity, before: Entity, reader: Reader) -> None:
    """Raise `InvalidInputError` if another visible entity of the type has the name that an entity is given."""
    if (after.type, folded_name(after.name)) == (before.type, folded_name(before.name)):
        return
    named = [match.entity_id for match in await reader.find_names([after.name]) if not match.alias]
    for other in await reader.get_entities(named):
        if other.type == after.type and other.id != after.id:
            raise InvalidInputError(
                f"entity {after.id}", [f"another {after.type} has this name, {other.id}: merge the two"]
            )


async def vectors(after: Entity, before: Entity, engine: GraphSearchEngine) -> dict[UUID, Vector]:
    """The vector of the corrected text, if the text changed and the scope has vectors."""
    bound = await engine.store.embedder_name()
    if bound is None or embedding_text(after) == embedding_text(before):
        return {}
    if engine.embedder is None:
        raise MissingDependencyError(
            f"the text of an entity in {engine.store.scope} is embedded by {bound!r}: pass it as"
            " GraphSearchEngine(store=…, embedder=…)"
        )
    if engine.embedder.name != bound:
        raise EmbeddingModelError(
            f"the vectors of {engine.store.scope} were made by {bound!r}, and this engine embeds with"
            f" {engine.embedder.name!r}: pass the first"
        )
    [vector] = await engine.embedder.embed([embedding_text(after)], input_type="document")
    return {after.id: vector}


async def own_embedder(engine: GraphSearchEngine) -> Embedder | None:
    """The embedder of an engine, if it is that of its scope."""
    embedder = engine.embedder
    return embedder if embedder is not None and embedder.name == await engine.store.embedder_name() else None


async def embed_again(ids: Iterable[UUID], engine: GraphSearchEngine) -> None:
    """Write the vectors of entities that a store lists as reworded.

    An engine without the embedder of its scope leaves them without: they are found by their words, and embedded when
    they are next written.
    """
    wanted = sorted(set(ids))
    embedder = await own_embedder(engine) if wanted else None
    if embedder is None:
        return
    texts = {each.id: embedding_text(each) for each in await engine.store.get_entities(wanted)}
    rows = await embedder.embed(list(texts.values()), input_type="document")
    vectors = dict(zip(texts, rows, strict=True))
    await engine.store.write(Batch(vectors=vectors, embedded=texts, embedder=embedder.name))
