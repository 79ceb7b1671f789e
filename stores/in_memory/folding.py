"""Fold names, types and signatures of entities again after their mentions, merges or given names have changed."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import attrs

from graphsearch.claims.folding import DatedClaim, RelationTypes, Together, fold, group_of, type_named
from graphsearch.claims.naming import QUALIFIED_TYPES, fold_aliases, forgotten_name, is_typed_by_mentions, known_types
from graphsearch.model import Claim, Entity, Group, Memory, Mention, Relation
from graphsearch.model.signatures import Attested, entity_signature, memory_signature, relation_signature
from graphsearch.model.validation import revised
from graphsearch.stores.in_memory.merging import Original, folded_claims
from graphsearch.stores.in_memory.naming import TypedSurface
from graphsearch.stores.in_memory.state import Draft, E, State
from graphsearch.stores.shared.influences import Influences

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


def rename_entities(draft: Draft) -> Generator[None, None, tuple[UUID, ...]]:
    """Fold the names and types of the entities touched by the draft; return those whose text changed.

    In steps; the ids are in order.
    """
    touched = [key for key in draft.merging.above(draft.naming.touched) if key in draft.entities.items]
    reworded, mentions = [], _MentionsByEntity(draft)
    for key in touched:
        entity = draft.entities.items[key]
        type_ = _stated_type(draft, entity, mentions)
        name = _stated_name(draft, entity, type_, mentions)
        if (type_, name) != (entity.type, entity.name):
            draft.entities.put(revised(entity, type=type_, name=name))
            draft.entities.drop_vector(key)
            reworded.append(key)
        yield
    for key in touched:
        entity = draft.entities.items[key]
        if (aliases := aliases_of(draft, entity)) != entity.aliases:
            draft.entities.put(revised(entity, aliases=aliases))
        yield
    yield from sign_entities(draft, touched)
    return tuple(sorted(reworded))


def sign_entities(draft: Draft, keys: Iterable[UUID]) -> Generator[None, None, None]:
    """Renew the signatures of entities, first of those merged into others, whose signatures name them. In steps."""
    for key in sorted(keys, key=lambda key: key not in draft.merging.into):
        if key in draft.entities.items:
            draft.sign(draft.entities, key, entity_signature(draft.entities.items[key], _attested(draft, key)))
            yield


def _attested(draft: Draft, key: UUID) -> Attested:
    """What an entity depends on; one that was merged into another has left its mentions to it."""
    given = draft.naming.named.get(key)
    below = draft.merging.tree(key)[1:] if key not in draft.merging.into else ()
    codes, signed = draft.memories.codes, draft.entities.codes
    return Attested(
        mentions=frozenset([codes[memory] for memory in draft.mentioned.get(key)]),
        absorbed=frozenset([signed[each] for each in below]),
        named=given is not None,
        typed=given is not None and is_typed_by_mentions(given, named=True),
    )


def type_so_far(draft: Draft, entity: Entity) -> str:
    """The type of an only-named entity: a type stated by mentions stays while they do."""
    given, stored = draft.naming.named.get(entity.id), draft.entities.items.get(entity.id)
    if given is None or stored is None or stored.type == given or not is_typed_by_mentions(entity.type, named=True):
        return entity.type
    return stored.type


def _stated_type(draft: Draft, entity: Entity, mentions: _MentionsByEntity) -> str:
    """The type stated by the mentions of an entity and of those merged into it that were given no type either."""
    named = draft.naming.named
    if entity.id not in named or not is_typed_by_mentions(named[entity.id], named=True):
        return entity.type
    tree = [
        key for key in draft.merging.tree(entity.id) if is_typed_by_mentions(named.get(key) or "", named=key in named)
    ]
    stated = known_types(each for _, each in _forms(draft, tree))
    if len(stated) > 1:
        return next(mention.type for mention in mentions.in_order(tree) if mention.type in stated)
    return next(iter(stated), named[entity.id])


def _stated_name(draft: Draft, entity: Entity, type_: str, mentions: _MentionsByEntity) -> str:
    """The name of an entity of a type: another one if the mentions that stated it are gone."""
    if entity.id in draft.naming.named and type_ not in QUALIFIED_TYPES:
        tree = draft.merging.tree(entity.id)
        lost_surfaces = [surface for each in tree for surface in draft.naming.lost_surfaces.get(each, ())]
        if forgotten_name(entity.name, lost_surfaces, _surfaces(draft, tree)):
            return mentions.in_order(tree)[0].surface
    return entity.name


def aliases_of(draft: Draft, entity: Entity) -> tuple[str, ...]:
    """The aliases of an entity: given ones, its surface forms, and the names of entities merged into it."""
    tree = draft.merging.tree(entity.id)
    others = [] if entity.type in QUALIFIED_TYPES else list(_surfaces(draft, tree))
    for key in tree[1:]:
        others += [draft.entities.items[key].name, *(draft.naming.given.get(key) or ())]
    return fold_aliases(entity.name, draft.naming.given.get(entity.id) or (), others)


def _forms(draft: Draft, tree: Iterable[UUID]) -> Iterator[TypedSurface]:
    return (form for key in tree for form in draft.naming.forms.get(key) or ())


def _surfaces(draft: Draft, tree: Iterable[UUID]) -> frozenset[str]:
    return frozenset(surface for surface, _ in _forms(draft, tree))


class _MentionsByEntity:
    """The mentions of memories by their entity; those of each memory are sorted only once."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._of_memory: dict[str, dict[UUID, list[Mention]]] = {}

    def in_order(self, tree: Sequence[UUID]) -> list[Mention]:
        """All mentions of entities that were merged into one, the earliest first."""
        draft = self._draft
        memories = draft.mentioned.get(draft.merging.root(tree[0]))
        mentions = [mention for memory in memories for entity in tree for mention in self._of(memory).get(entity, ())]

        def place(mention: Mention) -> tuple[datetime, str, tuple[int, int], str, str]:
            span = (mention.span.start, mention.span.end) if mention.span else (-1, -1)
            occurred_at = draft.memories.items[mention.memory_id].occurred_at
            return (occurred_at or _EARLIEST, mention.memory_id, span, mention.surface, mention.type)

        return sorted(mentions, key=place)

    def _of(self, memory: str) -> Mapping[UUID, Sequence[Mention]]:
        found = self._of_memory.get(memory)
        if found is None:
            found = self._of_memory[memory] = {}
            for mention in self._draft.original(memory).mentions:
                found.setdefault(mention.entity_id, []).append(mention)
        return found


def settled(new: E, old: E | None, now: datetime) -> E:
    """The element with the fields that a write never changes: its creation and its initial feedback."""
    if old is not None:
        if (new.created_at, new.feedback_weight) == (old.created_at, old.feedback_weight):
            return new
        return revised(new, created_at=old.created_at, feedback_weight=old.feedback_weight)
    return new if new.created_at else revised(new, created_at=now)


def put_entity(draft: Draft, entity: Entity, now: datetime, *, named: bool = False) -> bool:
    """Write an entity; return whether that changed anything."""
    type_ = type_so_far(draft, entity) if named else entity.type
    typed = entity if type_ == entity.type else revised(entity, type=type_)
    given = draft.naming.give(entity, named=named)
    merged_into = draft.merging.into.get(entity.id) or entity.merged_into
    aliases = aliases_of(draft, typed)
    same = (aliases, merged_into) == (typed.aliases, typed.merged_into)
    shown = typed if same else revised(typed, aliases=aliases, merged_into=merged_into)
    return draft.entities.put(settled(shown, draft.entities.items.get(entity.id), now)) or given


def put_memory(draft: Draft, memory: Memory, now: datetime) -> bool:
    """Write a memory, and renew the signatures of its relations if its own has changed; return whether it changed."""
    signed = draft.sign(draft.memories, memory.id, memory_signature(memory))
    changed = draft.memories.put(settled(memory, draft.memories.items.get(memory.id), now))
    if signed:
        for key in draft.proved.get(memory.id):
            _sign(draft, draft.relations.items[key])
    return changed


def put_relation(draft: Draft, relation: Relation, now: datetime, influences: Influences | None = None) -> None:
    """Write a relation, with what it was folded from together; if its fact has changed, its vector is dropped."""
    old = draft.relations.items.get(relation.id)
    new = settled(relation, old, now)
    before, after = set(old.evidence if old else ()), set(new.evidence)
    for key in before - after:
        draft.proved.discard(key, new.id)
    for key in after - before:
        draft.proved.add(key, new.id)
    _sign(draft, new, influences)
    if draft.relations.put(new):
        _follow_fact(draft, new)


def _follow_fact(draft: Draft, relation: Relation) -> None:
    """Keep the vector consistent with the fact: dropped when the fact differs from before the draft, else restored."""
    key, before = relation.id, draft.before.relations
    vector = before.vectors.get(key)
    if vector is not None and before.items[key].fact != relation.fact:
        draft.relations.drop_vector(key)
    elif vector is not None and key not in draft.relations.vectors:
        draft.relations.vectors.set(key, vector)


def changed(draft: Draft, relations: Iterable[UUID]) -> int:
    """The number of relations that are new or changed since the draft began."""
    before, after = draft.before.relations.items, draft.relations.items
    return sum(after.get(key) != before.get(key) for key in relations)


def retract(draft: Draft, key: UUID, now: datetime) -> bool:
    """Retract a relation; return whether it was not retracted before."""
    relation = draft.relations.items[key]
    return relation.retracted_at is None and draft.relations.put(attrs.evolve(relation, retracted_at=now))


def _sign(draft: Draft, relation: Relation, influences: Influences | None = None) -> None:
    codes = draft.memories.codes
    evidence = [codes[key] for key in relation.evidence if key in codes]
    others = influences.on(relation) if influences else ()
    shared = influences is not None and influences.together.shared
    draft.sign(draft.relations, relation.id, relation_signature(relation, evidence, others, shared=shared))


def sign_folded_again(draft: Draft, now: datetime) -> Generator[None, None, None]:
    """Renew the signatures of relations folded with one to an entity whose signature has changed. In steps."""
    if not draft.resigned:
        return
    claims, originals = draft.claims.result, draft.merging.originals.result
    grouped = GroupedClaims(claims, originals, draft.types)
    groups = (
        (group, grouped.of(group, keys))
        for group, keys in draft.groups.result.items()
        if group[2] is None  # of all targets
    )
    led = [
        group
        for group, group_claims in groups
        if not draft.resigned.isdisjoint(claim.target_id for claim in group_claims)
    ]
    yield from refold(draft, led, now)


# -- mentions and claims ------------------------------------------------------------------------------------------


def replace_proof(draft: Draft, key: str, mentions: Iterable[Mention], claims: Iterable[Claim]) -> None:
    """Replace the mentions and claims of a memory, as they are written."""
    drop_proof(draft, key)
    written = Original(tuple(dict.fromkeys(mentions)), tuple(dict.fromkeys(claims)))
    shown = Original(tuple(map(draft.merging.shown, written.mentions)), tuple(map(draft.merging.shown, written.claims)))
    if written != shown:
        draft.merging.originals.set(key, written)
    if shown.mentions:
        draft.mentions.set(key, shown.mentions)
    if shown.claims:
        draft.claims.set(key, shown.claims)
    for mention in written.mentions:
        draft.naming.add_mention(mention)
    for mention in shown.mentions:
        draft.mentioned.add(mention.entity_id, key)
    for claim in shown.claims:
        draft.groups.add(group_of(claim, draft.types), key)


def drop_proof(draft: Draft, key: str) -> None:
    """Remove the mentions and claims of a memory."""
    for mention in draft.original(key).mentions:
        draft.naming.remove_mention(mention)
    for mention in draft.mentions.get(key) or ():
        draft.mentioned.discard(mention.entity_id, key)
    for claim in draft.claims.get(key) or ():
        draft.groups.discard(group_of(claim, draft.types), key)
    draft.mentions.pop(key)
    draft.claims.pop(key)
    draft.merging.originals.pop(key)


def regrouped(draft: Draft, names: Collection[str]) -> set[Group]:
    """Regroup the claims of types that became functional or ceased to be; return the old and the new groups."""
    before = {group: keys for group, keys in draft.before.groups.items() if group[1] in names}
    after = set[Group]()
    for group, keys in before.items():
        for key in keys:
            draft.groups.discard(group, key)
    for key in set().union(*before.values()):
        for claim in draft.claims.get(key) or ():
            if claim.type in names:
                after.add(group_of(claim, draft.types))
                draft.groups.add(group_of(claim, draft.types), key)
    return {*before, *after}


def claims_behind(state: State, relation: Relation) -> list[Claim]:
    """The claims behind a relation that have its source, type and target."""
    fact = (relation.source_id, relation.type, relation.target_id)
    return [
        claim
        for key in relation.evidence
        for claim in state.claims.get(key, ())
        if (claim.source_id, claim.type, claim.target_id) == fact
    ]


# -- the fold -----------------------------------------------------------------------------------------------------


def refold(draft: Draft, groups: Iterable[Group], now: datetime) -> Generator[None, None, tuple[set[UUID], set[UUID]]]:
    """Fold groups again; return the ids of the relations that claims give now, and of those without claims now.

    In steps.
    """
    state = draft.before
    claims, memories, types = draft.claims.result, draft.memories.items.result, draft.types.result
    had = GroupedClaims(state.claims, state.merging.originals, state.types)
    has = GroupedClaims(claims, draft.merging.originals.result, types)
    lost, kept = set[UUID](), set[UUID]()
    for group in sorted(groups, key=_place):
        if had_been := _dated(had.of(group, state.groups.get(group, ())), state.memories.items):
            before = fold(had_been, type_named(group[1], state.types))
            lost |= {relation.id for relation in before if relation.id in draft.relations.items}
        dated = _dated(has.of(group, draft.groups.get(group)), memories)
        together, influences = Together.of(each.claim for each in dated), None
        if together.shared:
            influences = Influences.of(together, draft.memories.codes.result, draft.entities.codes.result)
        for relation in fold(dated, type_named(group[1], types)):
            put_relation(draft, _with_own(relation, draft.relations.items.get(relation.id)), now, influences)
            kept.add(relation.id)
            yield
    return kept, lost - kept


def _place(group: Group) -> tuple[int, str, int]:
    """The place of a group in the order of folding."""
    source, type_, target = group
    return source.int, type_, -1 if target is None else target.int


def _with_own(folded: Relation, old: Relation | None) -> Relation:
    """Fields that claims do not state are unchanged."""
    if old is None or (old.labels, old.attributes) == (folded.labels, folded.attributes):
        return folded
    return attrs.evolve(folded, labels=old.labels, attributes=old.attributes)


def _dated(claims: Iterable[Claim], memories: Mapping[str, Memory]) -> list[DatedClaim]:
    return [DatedClaim(claim, memories[claim.memory_id].occurred_at) for claim in claims]


@attrs.frozen(eq=False)
class GroupedClaims:
    """The claims of memories by the group in which they are folded; those of each memory are grouped only once."""

    claims: Mapping[str, tuple[Claim, ...]]
    originals: Mapping[str, Original]
    types: RelationTypes
    _grouped: dict[str, dict[Group, list[Claim]]] = attrs.field(factory=dict, init=False)

    def of(self, group: Group, keys: Iterable[str]) -> Iterator[Claim]:
        """The claims of some memories that are folded in a group."""
        for key in keys:
            yield from self._of_memory(key).get(group, ())

    def _of_memory(self, key: str) -> Mapping[Group, Sequence[Claim]]:
        found = self._grouped.get(key)
        if found is None:
            found = self._grouped[key] = {}
            for claim in folded_claims(self.claims[key], self.originals.get(key)):
                found.setdefault(group_of(claim, self.types), []).append(claim)
        return found
