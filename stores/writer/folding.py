"""The folds, once for every store: claims to relations, mentions to names and types, and the signatures of all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from graphsearch.claims.folding import DatedClaim, Together, fold, group_of, type_named
from graphsearch.claims.naming import QUALIFIED_TYPES, fold_aliases, forgotten_name, is_typed_by_mentions, known_types
from graphsearch.errors import StoreError
from graphsearch.model import Group, Mention, Relation
from graphsearch.model.signatures import Attested, Signature, entity_signature, relation_signature
from graphsearch.model.validation import revised
from graphsearch.stores.shared.influences import Influences
from graphsearch.stores.writer.rows import EntityRow, MentionRow, RelationRow
from graphsearch.stores.writer.work import Work, by

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


# -- relations -----------------------------------------------------------------------------------------------------


class Folded:
    """The relations of the groups that a write has folded again."""

    def __init__(self) -> None:
        self.kept: set[UUID] = set()
        """Those that claims prove."""
        self.lost: set[UUID] = set()
        """Those that claims proved before."""
        self.together: dict[UUID, Together] = {}
        self.memories: dict[str, int] = {}
        """The signatures of the memories with claims of the groups."""


async def refold(work: Work, groups: Iterable[Group], folded: Folded) -> Folded:
    """Fold groups again, and put the relations that claims prove; what is to become of the lost ones is up to callers.

    A relation is lost that the claims proved as they were stored, and do not prove now.
    """
    wanted = set(groups)
    types = work.scope.types
    now: dict[Group, list[DatedClaim]] = {group: [] for group in sorted(wanted, key=_place)}
    for row in await work.rows_by("claim", "group", wanted):
        folded.memories[row.claim.memory_id] = row.signature
        claim = row.shown
        if row.folds and (group := group_of(claim, types)) in now:
            now[group].append(DatedClaim(claim, row.occurred_at))
    had = work.proved_before(wanted)
    kept: dict[UUID, Relation] = {}
    for group, dated in now.items():
        together = Together.of(each.claim for each in dated)
        for relation in fold(dated, type_named(group[1], types)):
            kept[relation.id] = relation
            folded.together[relation.id] = together
    await work.rows("relation", {*kept, *had})
    for relation in kept.values():
        put_relation(work, relation, folded=True)
    folded.kept |= kept.keys()
    folded.lost |= {key for key in had if work.get("relation", key) is not None}
    folded.lost -= folded.kept
    return folded


def _place(group: Group) -> tuple[int, str, int]:
    source, type_, target = group
    return source.int, type_, -1 if target is None else target.int


def put_relation(work: Work, relation: Relation, *, folded: bool, given: Any = ...) -> None:
    """Write a relation; fields that claims do not state, its creation and its feedback stay as they are."""
    old: RelationRow | None = work.get("relation", relation.id)
    if old is None:
        new = relation if relation.created_at else revised(relation, created_at=work.now)
        work.put("relation", RelationRow(new, folded, None if given is ... else given))
        return
    before = old.relation
    own = {"created_at": before.created_at, "feedback_weight": before.feedback_weight}
    if folded:
        own |= {"labels": before.labels, "attributes": before.attributes}
    new = revised(relation, **own)
    row = RelationRow(new, folded, old.given if given is ... else given, old.lapsed_at, old.signature)
    work.put("relation", row)


def retract(work: Work, keys: Iterable[UUID]) -> int:
    """Retract relations; return how many were not retracted before."""
    number = 0
    for key in keys:
        row = work.get("relation", key)
        number += row.relation.retracted_at is None
        retracted_at = row.relation.retracted_at or work.now
        new = revised(row.relation, retracted_at=retracted_at)
        work.put("relation", RelationRow(new, False, row.given, row.lapsed_at, row.signature))
        work.retracted.add(key)
    return number


async def sign_relations(work: Work, folded: Folded, resigned: Collection[UUID]) -> None:
    """Give relations the signatures of their evidence, and of what they were folded with; drop vectors of old facts.

    Groups of functional types that lead to an entity with another signature are folded again.
    """
    functional = [name for name, each in work.scope.types.items() if each.functional]
    leading = {(key, name) for key in resigned for name in functional}
    led = await work.rows_by("claim", "target", leading)
    await refold(work, {group_of(row.shown, work.scope.types) for row in led}, folded)
    changed = [row for key, row in work.after["relation"].items() if row is not None and key not in work.retracted]
    shared = [each for each in {id(each): each for each in folded.together.values()}.values() if each.shared]
    cited = {key for row in changed for key in row.relation.evidence}.difference(folded.memories)
    memories = {**folded.memories, **{row.key: row.signature for row in await work.rows("memory", cited)}}
    for row in work.after["memory"].values():
        if row is not None:
            memories[row.key] = row.signature
    targets = {key for each in shared if len(each.targets) > 1 for key in each.targets}
    entities = {row.key: row.signature for row in await work.rows("entity", targets)}
    influences: dict[int, Influences] = {}
    codes: dict[Any, int] = {}
    for row in changed:
        together = folded.together.get(row.key) if row.folded else None
        evidence, others = [memories[key] for key in row.relation.evidence if key in memories], frozenset[int]()
        is_shared = together is not None and together.shared
        if together is not None and is_shared:
            if id(together) not in influences:
                influences[id(together)] = Influences.of(together, memories, entities)
            others = influences[id(together)].on(row.relation)
        relation = row.relation
        alike: Any = (relation.type, relation.kind, relation.labels, frozenset(evidence), others, is_shared)
        code = codes.get(alike) if not relation.attributes else None
        if code is None:
            code = codes[alike] = keep_code(work, relation_signature(relation, evidence, others, shared=is_shared))
        if code != row.signature:
            work.put("relation", RelationRow(row.relation, row.folded, row.given, row.lapsed_at, code))
    facts = {key: (old, row) for key, (old, row) in work.changed("relation").items() if old and row}
    work.drop_vectors("relation", [key for key, (old, row) in facts.items() if old.relation.fact != row.relation.fact])


@lru_cache(maxsize=65_536)
def code_of(signature: Signature) -> int:
    """The code of a signature, cached: thousands of elements share a handful."""
    return signature.code


def keep_code(work: Work, signature: Signature) -> int:
    """The code of a signature, which is to be stored with the others."""
    code = code_of(signature)
    if work.signatures.setdefault(code, signature) != signature:
        raise StoreError(f"two signatures have the code {code}: write these elements with another label")
    return code


# -- entities ------------------------------------------------------------------------------------------------------


async def rename(
    work: Work, touched: Collection[UUID], lost: Mapping[UUID, Collection[str]]
) -> tuple[tuple[UUID, ...], set[UUID]]:
    """Fold names, types, aliases and signatures of the entities touched, and of those they were merged into.

    ``lost`` are surfaces that lost a mention, by the entity they were written for. Returns the entities whose text
    changed, whose vectors are dropped, in order of id, and the stored ones whose signature changed.
    """
    await work.read_entities(touched)
    keys = [key for key in work.above(touched) if work.get("entity", key) is not None]
    await work.read_forms({each for key in keys for each in work.below(key)})
    reworded = []
    for key in keys:
        row = work.get("entity", key)
        type_ = await _stated_type(work, row)
        name = await _stated_name(work, row, type_, lost)
        if (type_, name) != (row.entity.type, row.entity.name):
            _put(work, row, revised(row.entity, type=type_, name=name))
            reworded.append(key)
    for key in keys:
        row = work.get("entity", key)
        if (aliases := _aliases(work, row)) != row.entity.aliases:
            _put(work, row, revised(row.entity, aliases=aliases))
    resigned = set()
    for key in sorted(keys, key=lambda key: key not in work.into):  # first those whose signatures others name
        row = work.get("entity", key)
        code = keep_code(work, entity_signature(row.entity, _attested(work, row)))
        if code != row.signature:
            work.put("entity", EntityRow(row.entity, row.given_type, row.given_aliases, row.named, code))
            if row.signature:
                resigned.add(key)
    work.drop_vectors("entity", reworded)
    return tuple(sorted(reworded)), resigned


def _put(work: Work, row: EntityRow, entity: Any) -> None:
    work.put("entity", EntityRow(entity, row.given_type, row.given_aliases, row.named, row.signature))


def _is_typed(row: EntityRow) -> bool:
    return is_typed_by_mentions(row.given_type, named=row.named)


async def _stated_type(work: Work, row: EntityRow) -> str:
    """The type stated by the mentions of an entity and of those merged into it that were given no type either."""
    if not _is_typed(row):
        return row.entity.type
    tree = [key for key in work.below(row.key) if _is_typed(work.get("entity", key))]
    stated = known_types(form.type for form in work.forms(tree))
    if len(stated) > 1:
        return next(each.type for each in await _in_order(work, tree) if each.type in stated)
    return next(iter(stated), row.given_type)


async def _stated_name(work: Work, row: EntityRow, type_: str, lost: Mapping[UUID, Collection[str]]) -> str:
    """The name of an entity of a type: another one if the mentions that stated it are gone."""
    name: str = row.entity.name
    if row.named and type_ not in QUALIFIED_TYPES:
        tree = work.below(row.key)
        gone = [surface for key in tree for surface in lost.get(key, ())]
        if gone and forgotten_name(name, gone, {form.surface for form in work.forms(tree)}):
            return (await _in_order(work, tree))[0].surface
    return name


def _aliases(work: Work, row: EntityRow) -> tuple[str, ...]:
    """The given aliases, the surface forms, and the names of entities merged into it."""
    tree = work.below(row.key)
    others = [] if row.entity.type in QUALIFIED_TYPES else [form.surface for form in work.forms(tree)]
    for key in tree[1:]:
        below = work.get("entity", key)
        others += [below.entity.name, *below.given_aliases]
    return fold_aliases(row.entity.name, row.given_aliases, others)


def _attested(work: Work, row: EntityRow) -> Attested:
    """What an entity depends on; one that was merged into another has left its mentions to it."""
    if row.key in work.into:
        return Attested(named=row.named, typed=_is_typed(row))
    tree = work.below(row.key)
    return Attested(
        mentions=frozenset([form.signature for form in work.forms(tree)]),
        absorbed=frozenset([work.get("entity", key).signature for key in tree[1:]]),
        named=row.named,
        typed=_is_typed(row),
    )


async def _in_order(work: Work, tree: Collection[UUID]) -> list[Mention]:
    """All mentions written for some entities, the earliest first; needed seldom."""

    def place(row: MentionRow) -> Any:
        each = row.mention
        span = (each.span.start, each.span.end) if each.span else (-1, -1)
        return (row.occurred_at or _EARLIEST, each.memory_id, span, each.surface, each.type)

    return [row.mention for row in sorted(await work.rows_by("mention", "written", tree), key=place)]


# -- mentions and claims -------------------------------------------------------------------------------------------


def numbered(proofs: Iterable[Any], order: Any) -> list[tuple[int, Any]]:
    """Mentions or claims without repeats, each with its place within its memory."""
    return [
        (ordinal, each)
        for own in by(sorted(dict.fromkeys(proofs), key=order), lambda each: each.memory_id).values()
        for ordinal, each in enumerate(own)
    ]


def mention_order(mention: Mention) -> Any:
    return (mention.memory_id, mention.entity_id, mention.surface, mention.type, str(mention.span), mention.confidence)


def claim_order(claim: Any) -> Any:
    period = (str(claim.valid_from), str(claim.valid_to))
    content = (claim.confidence, claim.kind, claim.fact, str(claim.span), claim.extractor, claim.ceiling)
    return (claim.memory_id, claim.source_id, claim.type, claim.target_id, *period, *content)
