"""The steps of writing a batch: its entities, memories, mentions, claims and vectors, and their validation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

import attrs
import numpy as np

from graphsearch.claims.naming import is_typed_by_mentions
from graphsearch.errors import InvalidInputError
from graphsearch.model import Batch, Claim, ElementKind, Entity, Memory, Mention
from graphsearch.model.signatures import Attested
from graphsearch.stores.in_postgres.index import incoming
from graphsearch.stores.in_postgres.index.bulk import Carried, all_new, copy_in
from graphsearch.stores.in_postgres.index.indexing import (
    index_documents,
    is_bulk,
    put_vectors,
    put_words,
    settle,
    strike_embedded,
)
from graphsearch.stores.in_postgres.index.signing import Codes, drop_signatures, keep_signatures
from graphsearch.stores.in_postgres.read.reading import stored as stored_elements
from graphsearch.stores.in_postgres.rows import claim_of, mention_of
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.write.folds import Group
from graphsearch.stores.in_postgres.write.renaming import (
    Surfaces,
    copy_to_ends,
    index_entities,
    read_tree,
    surfaces_in,
    types_so_far,
)
from graphsearch.stores.in_postgres.write.summaries import drop_summaries_of_incoming
from graphsearch.stores.shared.answers import reference_faults, referred
from graphsearch.stores.shared.merging import shown, stated
from graphsearch.stores.shared.vectors import Matrix, Vectors, refuse_other_model, with_current_vectors

Proof = TypeVar("Proof", Mention, Claim)


async def put_entities(
    session: Session,
    entities: Sequence[Entity],
    named: Collection[UUID],
    batch: Batch,
    now: datetime,
) -> tuple[int, bool, Carried, set[UUID]]:
    """Write entities.

    Returns how many are new or changed, whether all are new, the vectors written with them, and those whose
    endpoint columns have changed.
    """
    if not entities:
        return 0, False, Carried(), set()
    fresh = await all_new(session, ElementKind.ENTITY, entities)
    turned: dict[UUID, int] = {}
    stored_types = {} if fresh else await types_so_far(session, entities, named)
    given_types: dict[UUID, str] = {}
    typed = entities
    if stored_types:
        given_types = {each.id: each.type for each in entities if each.id in stored_types}
        typed = [
            attrs.evolve(each, type=stored_types[each.id]) if each.id in stored_types else each for each in entities
        ]
    codes, attested = Codes(), await _attested(session, entities, named, batch, fresh=fresh)
    carried = Carried()
    if fresh and is_bulk(entities) and session.dimensions:
        carried = Carried.of(entities, batch.vectors, session.dimensions)

    signed = codes.of_entities(typed, attested)
    columns = incoming.entity_columns(typed, signed, now, named, given_types, carried.read(typed))
    await copy_in(session, incoming.ENTITY, columns)
    if fresh:
        changed = (await session.run(statement("insert entities"))).count
    else:
        await drop_summaries_of_incoming(session, "renamed entities")
        found = await session.rows(statement("with other endpoint columns"))
        turned.update((id_, signature) for id_, signature, _ in found)
        changed = (await session.run(statement("upsert entities"))).count
        changed -= sum(bool(same) for *_, same in found)  # of these only the signature, by new mentions
    await copy_to_ends(session, turned)
    await keep_signatures(session, codes)
    await drop_signatures(session, ElementKind.ENTITY, set(turned.values()).difference(codes.signatures.values()))
    await put_words(session, batch.words)
    if fresh:  # that of the others, when their mentions are known
        await index_entities(session, entities, fresh=True)
    return changed, fresh, carried, set(turned)


async def _attested(
    session: Session, entities: Sequence[Entity], named: Collection[UUID], batch: Batch, *, fresh: bool
) -> dict[UUID, Attested]:
    """What written entities depend on, as far as it is known before the mentions of the batch are written.

    `graphsearch.stores.in_postgres.write.renaming` completes it for those that were stored before.
    """
    codes = dict(zip((memory.id for memory in batch.memories), Codes().of_memories(batch.memories), strict=True))
    mentions: dict[UUID, set[int]] = {}
    for mention in batch.mentions:
        if mention.memory_id in codes:  # a mention of another memory is refused later
            mentions.setdefault(mention.entity_id, set()).add(codes[mention.memory_id])
    if not fresh:
        stored = await session.rows(statement("mentioning signatures"), ids=[each.id for each in entities])
        for key, found in stored:
            mentions.setdefault(key, set()).update(found)
    return {
        each.id: Attested(
            mentions=frozenset(mentions[each.id]),
            named=each.id in named,
            typed=is_typed_by_mentions(each.type, named=each.id in named),
        )
        for each in entities
        if each.id in mentions
    }


async def copy_proof(session: Session, batch: Batch, proof: Rewritten) -> None:
    """Fill the temporary tables of mentions and claims."""
    if batch.memories or batch.mentions:
        await copy_in(session, incoming.MENTION, incoming.mention_columns(proof.mentions, proof.root))
    if batch.memories or batch.claims:
        await copy_in(session, incoming.CLAIM, incoming.claim_columns(proof.claims, proof.root))


async def put_memories(
    session: Session, memories: Mapping[str, Memory], now: datetime
) -> tuple[int, dict[str, int], set[str]]:
    """Write memories; return how many are new or changed, the old signatures of others, and which changed their time.

    Signatures quote sources: the old ones are to be dropped when nothing cites them any more.
    """
    if not memories:
        return 0, {}, set()
    codes, written = Codes(), list(memories.values())
    await copy_in(session, incoming.MEMORY, incoming.memory_columns(written, codes.of_memories(written), now))
    await keep_signatures(session, codes)
    resigned = dict(await session.rows(statement("memories with another signature")))
    moved = await session.column(statement("moved memories"))
    await drop_summaries_of_incoming(session, "rewritten memories")
    changed = (await session.run(statement("upsert memories"))).count
    await index_documents(session, ElementKind.MEMORY, written)
    return changed, resigned, set(moved)


async def put_proof(
    session: Session, proof: Rewritten, memories: Mapping[str, Memory], others: Collection[str]
) -> tuple[dict[Group, set[UUID]], set[UUID], Surfaces]:
    """Replace the mentions and claims of the memories; ``others`` count as if their claims had changed.

    Returns the groups to be folded again with the targets that matter, and the entities mentioned now or before, with
    the surface forms that they lost.
    """
    if not memories:
        return {}, set(), {}
    ids = list(memories)
    touched, lost_surfaces = {each.entity_id for each in proof.mentions}, await surfaces_in(session, ids)
    touched |= lost_surfaces.keys()
    mentions = Counter(each.memory_id for each in set(proof.mentions))
    claims = Counter(each.memory_id for each in set(proof.claims))
    counts = {"mentions": [mentions[key] for key in ids], "claims": [claims[key] for key in ids]}
    for step in ("drop mentions", "upsert mentions", "drop claims", "upsert claims"):
        await session.run(statement(step), memory_ids=ids, **counts)
    await mark_proof(session, proof)
    groups: dict[Group, set[UUID]] = {}
    for claim in proof.claims_of(proof.with_other_claims().union(others)):
        groups.setdefault((claim.source_id, claim.type), set()).add(claim.target_id)
    return groups, touched, lost_surfaces


async def without_outdated_vectors(session: Session, batch: Batch) -> Batch:
    """A batch without the vectors of elements that are gone, or have another text than was embedded."""
    if not batch.embedded:
        return batch
    memories = [key for key in batch.embedded if isinstance(key, str)]
    others = [key for key in batch.embedded if not isinstance(key, str)]
    found = [
        *await stored_elements(session, ElementKind.ENTITY, others),
        *await stored_elements(session, ElementKind.RELATION, others),
        *await stored_elements(session, ElementKind.MEMORY, memories),
    ]
    return with_current_vectors(batch, found)


async def put_batch_vectors(
    session: Session, matrix: Matrix, batch: Batch, others: Mapping[UUID, ElementKind], *, fresh: bool
) -> None:
    """Store the vectors of a batch; ``others`` are the kinds of stored elements of which it has only these."""
    if matrix.textual:
        await put_vectors(session, ElementKind.MEMORY, matrix)
        return
    of_relations = {each.id for each in batch.relations}
    of_relations |= {key for key, kind in others.items() if kind is ElementKind.RELATION}
    is_relation = [key in of_relations for key in matrix.keys]
    entities, relations = (np.flatnonzero(np.equal(is_relation, each)).tolist() for each in (False, True))
    await put_vectors(session, ElementKind.ENTITY, matrix.take(entities), fresh=fresh and not others)
    of_facts = matrix.take(relations)
    await put_vectors(session, ElementKind.RELATION, of_facts)
    await strike_embedded(session, of_facts.keys)


async def settle_some(session: Session, batch: Batch, folded: int) -> None:
    """After a small write, settle twice as many elements of each kind as it wrote."""
    sizes = {
        ElementKind.ENTITY: len(batch.entities) + len(batch.named),
        ElementKind.RELATION: len(batch.relations) + folded,
        ElementKind.MEMORY: len(batch.memories),
    }
    for kind, size in sizes.items():
        if size and not is_bulk(range(size)):
            await settle(session, kind, limit=2 * size)


async def check(
    session: Session, batch: Batch, memories: Mapping[str, Memory], vectors: Vectors
) -> dict[UUID, ElementKind]:
    """Validate a batch; raise every fault at once.

    Returns the kinds of stored elements of which it has only the vectors.
    """
    entities, cited = referred(batch)
    no_entities = await _missing(session, ElementKind.ENTITY, entities)
    found = [
        *vectors.faults,
        *reference_faults(batch, no_entities, await _missing(session, ElementKind.MEMORY, cited)),
    ]
    texts = {key for key in vectors.keys if isinstance(key, str)}.difference(memories)
    others = {key for key in vectors.keys if not isinstance(key, str)}
    others.difference_update(
        [each.id for each in (*batch.entities, *batch.named)], [each.id for each in batch.relations]
    )
    no_entities = await _missing(session, ElementKind.ENTITY, others)
    nothing = await _missing(session, ElementKind.RELATION, no_entities)
    found += [f"vector: no element {key}" for key in nothing | await _missing(session, ElementKind.MEMORY, texts)]
    if found:
        raise InvalidInputError("batch", sorted(set(found)))
    refuse_other_model(batch, session.embedder)
    vectors.refuse_others(session.embedder, session.dimensions)
    return {key: ElementKind.RELATION if key in no_entities else ElementKind.ENTITY for key in others}


async def _missing(session: Session, kind: ElementKind, ids: Collection[Any]) -> set[Any]:
    if not ids:
        return set()
    return set(await session.column(statement("missing", kind), ids=list(ids)))


@attrs.frozen
class Rewritten:
    """The mentions and claims of a batch as they are stored, and those that its memories had before."""

    mentions: Sequence[Mention]
    claims: Sequence[Claim]
    had_mentions: Mapping[str, set[Mention]]
    """Read only where there were merges."""
    had_claims: Mapping[str, set[Claim]]
    root: Callable[[UUID], UUID] | None = None
    """The entity that one was finally merged into; None if there were no merges."""

    def entities_before(self) -> set[UUID]:
        """The entities, as they were written, that the memories stated before; where there were merges."""
        ends = {
            end for claims in self.had_claims.values() for each in claims for end in (each.source_id, each.target_id)
        }
        return ends | {each.entity_id for mentions in self.had_mentions.values() for each in mentions}

    def with_other_claims(self) -> set[str]:
        """The memories whose claims changed."""
        return _different(self.had_claims, _by_memory(self.claims))

    def with_other_mentions(self) -> set[str]:
        """The memories whose mentions changed."""
        return _different(self.had_mentions, _by_memory(self.mentions))

    def claims_of(self, memory_ids: Iterable[str]) -> set[Claim]:
        """The claims of memories, old and new, with the entities that theirs were merged into."""
        wanted = set(memory_ids)
        claims = {claim for claim in self.claims if claim.memory_id in wanted}
        claims = claims.union(*(self.had_claims.get(key, ()) for key in wanted))
        return {shown(claim, self.root) for claim in claims} if self.root else claims


def _different(one: Mapping[str, set[Proof]], other: Mapping[str, set[Proof]]) -> set[str]:
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


def _by_memory(proofs: Iterable[Proof]) -> dict[str, set[Proof]]:
    found: dict[str, set[Proof]] = {}
    for each in proofs:
        found.setdefault(each.memory_id, set()).add(each)
    return found


async def rewritten(session: Session, batch: Batch) -> Rewritten:
    """The mentions and claims of a batch to be stored (`graphsearch.stores.shared.merging.stated`)."""
    ids = [memory.id for memory in batch.memories]
    if not ids:
        return Rewritten(batch.mentions, batch.claims, {}, {})
    rows = await session.dicts(statement("original claims"), memory_ids=ids)
    claims = _by_memory(claim_of(row).claim for row in rows)
    if not session.merges:
        return Rewritten(batch.mentions, batch.claims, {}, claims)
    mentions = _by_memory(map(mention_of, await session.dicts(statement("original mentions"), memory_ids=ids)))
    had: set[Mention | Claim] = set[Mention | Claim]().union(*mentions.values(), *claims.values())
    named = {each.entity_id for each in batch.mentions}
    for each in (*batch.claims, *(claim for of_memory in claims.values() for claim in of_memory)):
        named |= {each.source_id, each.target_id}
    named |= {each.entity_id for of_memory in mentions.values() for each in of_memory}
    tree = await read_tree(session, named)
    kept_mentions, kept_claims = stated(batch.mentions, batch.claims, had, tree.root)
    return Rewritten(kept_mentions, kept_claims, mentions, claims, tree.root)


async def mark_proof(session: Session, proof: Rewritten) -> None:
    """Record the number of merges with memories whose mentions or claims changed."""
    if session.merges and (ids := proof.with_other_claims() | proof.with_other_mentions()):
        await session.run(statement("mark proof"), ids=sorted(ids), merges=session.merges)


async def keep_merged(session: Session, entities: Sequence[Entity]) -> Sequence[Entity]:
    """Written entities, still merged into their targets."""
    tree = await read_tree(session, [each.id for each in entities])
    if not tree.into:
        return entities
    return [attrs.evolve(each, merged_into=tree.into.get(each.id, each.merged_into)) for each in entities]
