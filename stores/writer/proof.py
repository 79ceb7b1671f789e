"""The mentions and claims of memories that are written: they take the place of those that the memories had."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable
from uuid import UUID

from graphsearch.model import Batch, Claim, Group, Mention
from graphsearch.model.validation import revised
from graphsearch.protocols.rows import ClaimRow, MentionRow
from graphsearch.stores.writer.folding import group_of_row
from graphsearch.stores.writer.work import Work, grouped


def put_proof(work: Work, batch: Batch, others: set[str]) -> Generator[None, None, tuple[set[UUID], set[Group]]]:
    """Replace the mentions and claims of memories, where they differ or the memory is one of ``others``; in steps.

    Returns the entities that the replaced ones were written for, and the groups of claims to fold again.
    """
    mentions = grouped(batch.mentions, lambda each: each.memory_id)
    claims = grouped(batch.claims, lambda each: each.memory_id)
    old_mentions = grouped(work.mentions, lambda row: row.mention.memory_id)
    old_claims = grouped(work.claims, lambda row: row.claim.memory_id)
    had: set[UUID] = set()
    groups: set[Group] = set()
    for key in dict.fromkeys(each.id for each in batch.memories):
        were, claimed = old_mentions.get(key, []), old_claims.get(key, [])
        had_mentions, had_claims = {row.mention for row in were}, {row.claim for row in claimed}
        told, stated = _stated(work, mentions.get(key, ()), claims.get(key, ()), had_mentions, had_claims)
        other_mentions = set(told) != had_mentions if were else bool(told)
        other_claims = set(stated) != had_claims if claimed else bool(stated)
        if other_mentions or key in others:
            _replace_mentions(work, key, were, told)
            had.update(row.mention.entity_id for row in were)
        if other_claims or key in others:
            new = _replace_claims(work, key, claimed, stated)
            had.update(end for row in claimed for end in (row.claim.source_id, row.claim.target_id))
            groups.update(group_of_row(row, work.scope.types) for row in (*claimed, *new))
        if work.scope.merges and (other_mentions or other_claims):
            work.memories.put(revised(work.memories[key], merges=work.scope.merges))
        yield
    return had, groups


def _stated(
    work: Work,
    mentions: Iterable[Mention],
    claims: Iterable[Claim],
    had_mentions: Collection[Mention],
    had_claims: Collection[Claim],
) -> tuple[list[Mention], list[Claim]]:
    """The mentions and claims to keep of a memory that is written, without repeats.

    Those it had before are kept as they were; new ones are of the entities that are meant after the merges, except
    where that would make a claim of an entity about itself. What is stored as claimed of a merged entity keeps its
    mentions in that memory too: a later name of the entity is one of them.
    """
    root = work.tree.root
    if work.tree.into:
        claims = [each if each in had_claims else _meant(each, root) for each in claims]
        ends = {end for each in claims for end in (each.source_id, each.target_id)}
        mentions = [
            each
            if each in had_mentions or each.entity_id in ends or root(each.entity_id) == each.entity_id
            else revised(each, entity_id=root(each.entity_id))
            for each in mentions
        ]
    return list(dict.fromkeys(mentions)), list(dict.fromkeys(claims))


def _meant(claim: Claim, root: Callable[[UUID], UUID]) -> Claim:
    """A claim between the entities that are meant, unless they are one."""
    ends = (claim.source_id, claim.target_id)
    source, target = map(root, ends)
    if (source, target) == ends or (source == target and ends[0] != ends[1]):
        return claim
    return revised(claim, source_id=source, target_id=target)


def _replace_mentions(work: Work, key: str, old: Iterable[MentionRow], new: Iterable[Mention]) -> None:
    row, root = work.memories[key], work.tree.root
    copied = (row.memory.created_at, row.memory.occurred_at, row.signature)
    rows = [MentionRow(each, root(each.entity_id), place, *copied) for place, each in enumerate(new)]
    work.rewritten.add(key)
    work.mentions.drop([row.key for row in old])
    for mention in rows:
        work.mentions.put(mention)
    work.touched.update(row.mention.entity_id for row in (*old, *rows))
    for mention in old:
        work.lost.setdefault(mention.mention.entity_id, set()).add(mention.mention.surface)


def _replace_claims(work: Work, key: str, old: Iterable[ClaimRow], new: Iterable[Claim]) -> list[ClaimRow]:
    row, root = work.memories[key], work.tree.root
    copied = (row.memory.occurred_at, row.signature)
    rows = [
        ClaimRow(each, (root(each.source_id), root(each.target_id)), place, *copied) for place, each in enumerate(new)
    ]
    work.claims.drop([row.key for row in old])
    for claim in rows:
        work.claims.put(claim)
    return rows
