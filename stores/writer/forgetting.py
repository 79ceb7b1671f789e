"""Forgetting memories with all that they alone prove, and deleting entities and relations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from graphsearch.model import Group, WriteReport
from graphsearch.model.validation import revised
from graphsearch.protocols.rows import ClaimRow, Port
from graphsearch.stores.writer.folding import changed_relations, cited_facts, finish, group_of_row, refold
from graphsearch.stores.writer.removing import (
    drop_merges,
    drop_references,
    drop_relations,
    drop_ties,
    drop_unnamed,
    forget_merged,
    unproved,
)
from graphsearch.stores.writer.work import Work


async def forget(port: Port, memory_ids: Sequence[str], now: datetime, *, dry_run: bool = False) -> WriteReport:
    """Delete memories with their mentions and claims, and all that nothing else proves (`GraphStore.forget`)."""
    work = Work(port, now)
    forgotten = {row.key for row in await work.memories.those(memory_ids)}
    if not forgotten:
        return WriteReport()
    mentions = await work.mentions.by("memory", forgotten)
    claims = await work.claims.by("memory", forgotten)
    citing = {row.key for row in await work.relations.by("evidence", forgotten)}
    work.rewritten |= forgotten
    for row in mentions:
        work.lost.setdefault(row.mention.entity_id, set()).add(row.mention.surface)
    work.memories.drop(forgotten)
    work.mentions.drop([row.key for row in mentions])
    work.claims.drop([row.key for row in claims])
    proved, lost = await refold(work, {group_of_row(row, work.scope.types) for row in claims})
    gone = lost | unproved(work, citing - lost - proved, forgotten)
    joined = drop_relations(work, gone)
    joined.update(end for row in mentions for end in (row.entity_id, row.mention.entity_id))
    joined.update(end for row in claims for end in (*row.ends, row.claim.source_id, row.claim.target_id))
    await work.read_entities(joined)
    merged, lapsed = await forget_merged(work, joined)
    alone, others = await drop_unnamed(work, joined - merged)
    gone |= lapsed | others
    work.touched |= work.lost.keys()
    links, references = await drop_ties(work), await drop_references(work)
    reworded = await finish(work, dry_run=dry_run)
    return WriteReport(
        memories=len(forgotten),
        relations=changed_relations(work, proved),
        relations_retracted=len(gone),
        entities_removed=len(merged | alone),
        mentions_removed=len(mentions),
        claims_removed=len(claims),
        links_removed=links,
        references_removed=references,
        reworded=reworded,
    )


async def delete(port: Port, entities: Sequence[UUID], relations: Sequence[UUID], now: datetime) -> WriteReport:
    """Delete entities with their relations, claims and mentions, and relations with their claims (`GraphStore`)."""
    work = Work(port, now)
    await work.read_entities(entities)
    requested = {key for key in entities if key in work.entities}
    groups: set[Group] = set()
    for key in sorted(requested):
        if key in work.tree.into and work.tree.root(key) not in requested:
            groups |= await _release(work, key)
    gone = {each for key in requested for each in work.tree.below(key)}
    await work.relations.read(relations)
    dropped = {key for key in relations if key in work.relations}
    dropped.update(row.key for row in await work.relations.by("end", gone))
    claims = await _behind(work, gone, dropped)
    mentions = await work.mentions.by("written", gone)
    work.claims.drop([row.key for row in claims])
    work.mentions.drop([row.key for row in mentions])
    proved, lost = await refold(work, groups.union(group_of_row(row, work.scope.types) for row in claims))
    dropped |= lost
    drop_relations(work, dropped)
    await drop_merges(work, gone)
    work.entities.drop(gone)
    links = await drop_ties(work)
    reworded = await finish(work)
    return WriteReport(
        relations=changed_relations(work, proved),
        relations_retracted=len(dropped),
        entities_removed=len(gone),
        mentions_removed=len(mentions),
        claims_removed=len(claims),
        links_removed=links,
        reworded=reworded,
    )


async def _behind(work: Work, entities: Collection[UUID], relations: Collection[UUID]) -> list[ClaimRow]:
    """The claims of entities, and those in the evidence of relations that state the same of the same ends."""
    found = {row.key: row for row in await work.claims.by("written", entities)}
    cited = cited_facts(work.relations[key].relation for key in relations)
    for row in await work.claims.by("group", cited):
        if row.claim.memory_id in cited.get(row.fact, ()):
            found[row.key] = row
    return list(found.values())


async def _release(work: Work, key: UUID) -> set[Group]:
    """Let all that was written of a merged entity be of its target, permanently; what was merged into it, too.

    Returns the groups of claims between the two, which are folded from now on: those of the target about itself.
    """
    target, groups = work.tree.into[key], set[Group]()

    def instead(end: UUID) -> UUID:
        return target if end == key else end

    for row in await work.merges.by("end", [key]):
        if row.merge.target_id == key and row.merge.undone_at is None:
            child = work.entities[row.merge.source_id]
            work.merges.put(revised(row, merge=revised(row.merge, target_id=target)))
            work.entities.put(revised(child, entity=revised(child.entity, merged_into=target)))
            work.tree.part(child.key)
            work.tree.join(child.key, target)
    mentions = await work.mentions.by("written", [key])
    memories = {row.mention.memory_id for row in mentions}
    work.rewritten |= memories
    known_mentions = {row.mention for row in await work.mentions.by("memory", memories)}
    for mention in mentions:
        of_target = revised(mention.mention, entity_id=target)
        work.mentions.drop([mention.key])
        if of_target not in known_mentions:
            work.mentions.put(revised(mention, mention=of_target))
    claims = await work.claims.by("written", [key])
    known_claims = {row.claim for row in await work.claims.by("memory", {row.claim.memory_id for row in claims})}
    for claim in claims:
        ends = {"source_id": instead(claim.claim.source_id), "target_id": instead(claim.claim.target_id)}
        moved = revised(claim, claim=revised(claim.claim, **ends))
        work.claims.drop([claim.key])
        if moved.claim not in known_claims:
            work.claims.put(moved)
        if moved.folds and not claim.folds:
            groups.add(group_of_row(moved, work.scope.types))
    for relation in await work.relations.by("written", [key]):
        given = None if relation.given is None else (instead(relation.given[0]), instead(relation.given[1]))
        work.relations.put(revised(relation, given=None if given == relation.ends else given))
    await drop_merges(work, [key])
    work.touched.add(target)
    return groups
