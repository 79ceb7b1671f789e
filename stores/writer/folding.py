"""The fold of claims to relations in a write, the signatures of relations, and the end of every write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Hashable, Iterable, Mapping
from uuid import UUID

import attrs

from graphsearch._support.concurrency import in_slices
from graphsearch.claims.folding import ALONE, DatedClaim, RelationTypes, Together, fold, periods_of, type_named
from graphsearch.model import Group, Relation
from graphsearch.model.identity import relation_id
from graphsearch.model.signatures import relation_signature
from graphsearch.model.validation import revised
from graphsearch.protocols.rows import ClaimRow, RelationRow
from graphsearch.stores.writer.naming import rename
from graphsearch.stores.writer.removing import drop_summaries
from graphsearch.stores.writer.work import Work


async def refold(work: Work, groups: Iterable[Group]) -> tuple[set[UUID], set[UUID]]:
    """Fold the claims of groups again, and put the relations that they prove.

    Returns the ids of these, and of the stored relations that claims of the groups proved before and do not prove now:
    what is to become of those is up to the caller.
    """
    wanted = set(groups)
    if not wanted:
        return set(), set()
    work.folded |= wanted
    await work.claims.read_by("group", [group for group in wanted if not work.entities.is_absent(group[0])])
    proved, before = await in_slices(_folded(work, wanted))
    await work.relations.read([*proved, *before])
    await in_slices(_put_folded(work, proved.values()))
    return set(proved), {key for key in before if key not in proved and key in work.relations}


def _folded(work: Work, groups: set[Group]) -> Generator[None, None, tuple[dict[UUID, Relation], set[UUID]]]:
    """The relations that the claims of groups prove, and the ids of those that they proved as stored; in steps."""
    types, types_before = work.scope.types, work.types_before
    stored = (row for row in work.claims.stored.values() if row is not None)
    before = {
        relation_id(source, name, *period.key)
        for (source, name, _), dated in _grouped(stored, groups, types_before).items()
        for period in periods_of(dated, type_named(name, types_before))
    }
    yield
    proved: dict[UUID, Relation] = {}
    for group, dated in _grouped(work.claims, groups, types).items():
        together = Together.of(each.claim for each in dated)
        for relation in fold(dated, type_named(group[1], types)):
            proved[relation.id] = relation
            work.together[relation.id] = together
        yield
    return proved, before


def _grouped(rows: Iterable[ClaimRow], groups: set[Group], types: RelationTypes) -> dict[Group, list[DatedClaim]]:
    """The claims of groups, between the ends that are meant."""
    found: dict[Group, list[DatedClaim]] = {}
    for row in rows:
        if row.folds and (group := group_of_row(row, types)) in groups:
            found.setdefault(group, []).append(DatedClaim(row.shown, row.occurred_at))
    return found


def group_of_row(row: ClaimRow, types: RelationTypes) -> Group:
    """The group in which a claim is folded, by the ends that are meant."""
    known = types.get(row.claim.type)
    return (row.ends[0], row.claim.type, None if known and known.functional else row.ends[1])


def cited_facts(relations: Iterable[Relation]) -> dict[Group, set[str]]:
    """By what relations state: the memories in their evidence. Claims of the same in these are behind them."""
    found: dict[Group, set[str]] = {}
    for each in relations:
        found.setdefault((each.source_id, each.type, each.target_id), set()).update(each.evidence)
    return found


def _put_folded(work: Work, relations: Iterable[Relation]) -> Generator[None, None, None]:
    """Write relations that claims prove, in steps; what these do not state, creation and feedback stay as they are."""
    for relation in relations:
        old = work.relations.get(relation.id)
        if old is None:
            row = RelationRow(revised(relation, created_at=work.now), folded=True)
        else:
            kept = old.relation
            own = {"labels": kept.labels, "attributes": kept.attributes}
            new = revised(relation, created_at=kept.created_at, feedback_weight=kept.feedback_weight, **own)
            row = RelationRow(new, True, old.given, old.lapsed_at, old.signature)
        work.relations.put(row)
        yield


def retract(work: Work, keys: Iterable[UUID]) -> int:
    """Retract relations that claims do not prove any more; return how many were not retracted before."""
    number = 0
    for key in keys:
        row = work.relations[key]
        number += row.relation.retracted_at is None
        relation = revised(row.relation, retracted_at=row.relation.retracted_at or work.now)
        work.relations.put(revised(row, relation=relation, folded=False))
        work.retracted.add(key)
    return number


def changed_relations(work: Work, keys: Iterable[UUID]) -> int:
    """The number of relations that are new or changed."""
    rows = ((work.relations.stored.get(key), work.relations.get(key)) for key in keys)
    return sum(row is not None and (old is None or old.relation != row.relation) for old, row in rows)


# -- signatures ----------------------------------------------------------------------------------------------------


async def sign_relations(work: Work, resigned: Iterable[UUID]) -> None:
    """Give relations the signatures of their evidence, and of what they were folded with; drop vectors of old facts.

    A relation of a functional type depends on the other targets of its group: with one of these it is signed anew.
    """
    types = work.scope.types
    functional = [name for name, each in types.items() if each.functional]
    led = await work.claims.by("target", [(key, name) for key in resigned for name in functional])
    groups = {group_of_row(row, types) for row in led} - work.folded
    await work.claims.read_by("group", groups)
    targets = {
        group: {each.claim.target_id for each in own} for group, own in _grouped(work.claims, groups, types).items()
    }
    await refold(work, [group for group, ends in targets.items() if len(ends) > 1])
    rows = [row for row in work.relations.new.values() if row is not None]
    if work.retracted:
        rows = [row for row in rows if row.key not in work.retracted]
    proved = [row for row in rows if row.relation.evidence and row.key not in work.together]
    await work.memories.read({key for row in proved for key in row.relation.evidence})
    several = {key for each in work.together.values() if len(each.targets) > 1 for key in each.targets}
    entities = {row.key: row.signature for row in await work.entities.those(several)}
    await in_slices(_sign(work, rows, entities))


def _sign(work: Work, rows: Iterable[RelationRow], entities: Mapping[UUID, int]) -> Generator[None, None, None]:
    """Sign relations, in steps."""
    memories = {row.claim.memory_id: row.signature for row in work.claims} | {
        row.key: row.signature for row in work.memories
    }
    codes: dict[Hashable, int] = {}
    counted: dict[Together, _Counted] = {}
    for row in rows:
        relation, together = row.relation, work.together.get(row.key, ALONE) if work.together else ALONE
        evidence = frozenset([memories[key] for key in relation.evidence if key in memories])
        others = frozenset[int]()
        if together.shared:
            if together not in counted:
                counted[together] = _Counted.of(together, memories, entities)
            others = counted[together].beside(relation, memories, entities)
        alike = (relation.type, relation.labels, evidence, others, together.shared)
        code = None if relation.attributes else codes.get(alike)
        if code is None:
            code = work.sign(relation_signature(relation, evidence, others, shared=together.shared))
            if not relation.attributes:
                codes[alike] = code
        if code != row.signature:
            work.relations.put(RelationRow(relation, row.folded, row.given, row.lapsed_at, code))
        old = work.relations.stored.get(row.key)
        if old is not None and old.relation.fact != relation.fact:
            work.vectors["relation"].setdefault(row.key, None)
        yield


@attrs.frozen(eq=False)
class _Counted:
    """How often each signature occurs among the memories and the targets of one group.

    A group of n relations takes time linear in n, as each takes its own evidence and target away from common counts.
    """

    memories: Counter[int]
    targets: Counter[int]

    @classmethod
    def of(cls, together: Together, memories: Mapping[str, int], entities: Mapping[UUID, int]) -> _Counted:
        """Of a group, with the signatures of its memories and targets."""
        return cls(
            Counter(memories[key] for key in together.memories if key in memories),
            Counter(entities[key] for key in together.targets if key in entities),
        )

    def beside(self, relation: Relation, memories: Mapping[str, int], entities: Mapping[UUID, int]) -> frozenset[int]:
        """The signatures of what influences a relation apart from its own evidence and target."""
        own = Counter(memories[key] for key in relation.evidence if key in memories)
        target = entities.get(relation.target_id)
        return frozenset(
            (
                *(code for code, number in self.memories.items() if number > own[code]),
                *(code for code, number in self.targets.items() if number > (code == target)),
            )
        )


# -- the end -------------------------------------------------------------------------------------------------------


async def finish(work: Work, *, dry_run: bool = False) -> tuple[UUID, ...]:
    """Fold names again, sign what changed, and write all; return the entities whose text changed, in order of id."""
    reworded, resigned = await rename(work)
    await sign_relations(work, resigned)
    if not dry_run:
        await drop_summaries(work)
        await work.flush()
    return reworded
