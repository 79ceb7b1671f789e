"""People of one first name, distinguished by the groups that qualify it: "Sam from the Night team", "… the Day team".

While nothing distinguishes two of them, all mentions are of one person. As soon as two qualifiers do, each of them is a
person: the only one in that group who is known by a whole name, or somebody who is called by it, as in "Sam of the
Night team". Mentions without a qualifier stay with the open name, which may be any. All of it is a function of what is
stored about a first name, so that the order of the memories does not matter, and what is forgotten leaves no trace.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from uuid import UUID

import attrs

from graphsearch.claims.naming import UNKNOWN_TYPES
from graphsearch.ingest.resolve.contexts import MEMBERSHIP, Context, context_of
from graphsearch.ingest.resolve.name_stages import PERSON, open_ids
from graphsearch.ingest.resolve.qualifiers import StatedGroups, distinguishing_groups, stated_groups
from graphsearch.model import Claim, Entity, Memory, Mention
from graphsearch.names.typed_names import read


@attrs.frozen(eq=False)
class Proofs:
    """Memories with their mentions and claims."""

    memories: Sequence[Memory]
    mentions: Mapping[str, Sequence[Mention]]
    claims: Mapping[str, Sequence[Claim]]


@attrs.frozen(eq=False, slots=False)
class Namesakes:
    """Everybody who is called by a first name, in lower case, the groups that they are in, and what proves that."""

    first: str
    people: Mapping[UUID, Entity]
    groups: Mapping[UUID, Entity]
    merged: Mapping[UUID, UUID]
    """The targets of those of them who were merged into others."""
    proofs: Proofs
    key: UUID
    """That of the scope's ids."""

    @cached_property
    def stated(self) -> Mapping[str, StatedGroups]:
        """What each memory states."""
        return {memory.id: self._stated(memory) for memory in self.proofs.memories}

    def _stated(self, memory: Memory) -> StatedGroups:
        mentions = self.proofs.mentions.get(memory.id, ())
        people = [each for each in mentions if each.entity_id in self.people]
        groups = [each for each in mentions if each.entity_id in self.groups]
        return stated_groups(memory.text, people, groups, self.proofs.claims.get(memory.id, ()))

    @cached_property
    def meant(self) -> Mapping[UUID, Entity]:
        """The person whom each distinguishing group means."""
        nouns = {id_: _noun(group.name) for id_, group in self.groups.items()}
        return {group: self._meant(group) for group in sorted(distinguishing_groups(self.stated.values(), nouns))}

    def _meant(self, group: UUID) -> Entity:
        members = {
            claim.source_id
            for claims in self.proofs.claims.values()
            for claim in claims
            if claim.type in MEMBERSHIP and claim.target_id == group and claim.source_id in self.known
            if any(each.entity_id == claim.source_id and not self._is_bare(each) for each in self._in(claim.memory_id))
        }
        return self.people[next(iter(members))] if len(members) == 1 else self._called_by(self.groups[group])

    def _called_by(self, group: Entity) -> Entity:
        """The person who is called by a first name and a group."""
        article = "the " if _noun(group.name) and not group.name.casefold().startswith("the ") else ""
        name = f"{self.first.capitalize()} of {article}{group.name}"
        *_, apart = open_ids(name, self.key)
        return self._unmerged(Entity(id=apart, type=PERSON, name=name))

    def _unmerged(self, entity: Entity) -> Entity:
        """The entity, or the one that it was merged into."""
        target = self.merged.get(entity.id)
        return self.people.get(target, entity) if target else entity

    @cached_property
    def called_by_group(self) -> frozenset[UUID]:
        """Those who are called by a group so far."""
        return frozenset(id_ for id_, each in self.people.items() if self._is_called_by_group(each))

    @cached_property
    def known(self) -> frozenset[UUID]:
        """Those who have a whole name."""
        return frozenset(id_ for id_, each in self.people.items() if has_whole_name(each)) - self.called_by_group

    @cached_property
    def open(self) -> Entity:
        """The person whom a first name means that nothing qualifies: the only one with a whole name, else anybody."""
        bare = sorted(self.people.keys() - self.known - self.called_by_group)
        if len(self.known) == 1 and not self.meant:
            return self.people[next(iter(self.known))]
        if bare:
            return self.people[bare[0]]
        name = self.first.capitalize()
        _, minted, _, apart = open_ids(name, self.key)
        # its mentions give it a type
        return self._unmerged(Entity(id=apart if minted in self.people else minted, type="concept", name=name))

    @cached_property
    def moved(self) -> Mapping[str, Mapping[Mention, Entity]]:
        """By memory, the person of each mention of the first name alone, for those that are to change."""
        return {memory.id: self._moved(memory) for memory in self.proofs.memories}

    def _moved(self, memory: Memory) -> Mapping[Mention, Entity]:
        groups = self._groups(memory)
        certain = any(group in self.meant for group in groups.values())
        found = {}
        for each, group in groups.items():
            if group is not None and group in self.meant:
                found[each] = self.meant[group]
            elif certain or (each.entity_id in self.called_by_group and self._named_in(memory) != {each.entity_id}):
                found[each] = self.open
        return {each: person for each, person in found.items() if person.id != each.entity_id}

    def _groups(self, memory: Memory) -> Mapping[Mention, UUID | None]:
        """The group of each mention of the first name alone: its qualifier, else the only one that is stated."""
        here = self.stated[memory.id]
        bare = {each: group for each, group in here.named.items() if self._is_bare(each)}
        stated = {*bare.values(), *here.joined} - {None}
        alone = next(iter(stated)) if len(stated) == 1 else None
        return {each: group or alone for each, group in bare.items()}

    def _named_in(self, memory: Memory) -> set[UUID]:
        """The people whom the conversation of a memory distinguishes."""
        return self._conversations[context_of(memory)] if any(context_of(memory)) else set()

    @cached_property
    def _conversations(self) -> Mapping[Context, set[UUID]]:
        found: defaultdict[Context, set[UUID]] = defaultdict(set)
        for memory in self.proofs.memories:
            groups = {group for group in self._groups(memory).values() if group is not None}
            found[context_of(memory)].update(self.meant[group].id for group in groups & self.meant.keys())
        return found

    def claim(self, claim: Claim, moved: Mapping[Mention, Entity]) -> Claim:
        """A claim of a memory whose mentions move, with the ends moved."""
        source = self._end(claim, claim.source_id, claim.target_id, moved)
        return attrs.evolve(
            claim, source_id=source, target_id=self._end(claim, claim.target_id, claim.source_id, moved)
        )

    def _end(self, claim: Claim, end: UUID, other: UUID, moved: Mapping[Mention, Entity]) -> UUID:
        """The entity that one end of a claim becomes: of several of one memory, the one of the group, or open."""
        mine = [each for each in self._in(claim.memory_id) if each.entity_id == end]
        after = {moved[each].id if each in moved else end for each in mine}
        if len(after) < 2:  # noqa: PLR2004 - one person, or none of the first name
            return next(iter(after), end)
        if other in self.meant and claim.type in MEMBERSHIP:
            return self.meant[other].id
        return end if end in self.known else self.open.id

    def evidence(self) -> list[Mention]:
        """The mentions of people who are distinguished, each with the name as its surface."""
        names = {each.id: each.name for each in self.meant.values()}
        found = []
        for memory_id, moved in self.moved.items():
            for each in self._in(memory_id):
                person = moved[each].id if each in moved else each.entity_id
                if person in names:
                    found.append(attrs.evolve(each, entity_id=person, surface=names[person]))
        return found

    def _is_called_by_group(self, entity: Entity) -> bool:
        """Whether an entity is called by a first name and a group: its id is of no name that somebody has."""
        return has_whole_name(entity) and entity.id in open_ids(entity.name, self.key)[2:]

    def _in(self, memory_id: str) -> Sequence[Mention]:
        return self.proofs.mentions.get(memory_id, ())

    def _is_bare(self, mention: Mention) -> bool:
        return is_bare(mention.surface, self.first)


def is_bare(name: str, first: str) -> bool:
    """Whether a name is a first name alone."""
    form = read(name, PERSON)
    return form.partial and form.words == (first,)


def has_whole_name(entity: Entity) -> bool:
    """Whether one of its names is more than a part of a person's name."""
    return not all(read(name, PERSON).partial for name in (entity.name, *entity.aliases))


def _noun(name: str) -> str:
    """The noun of a group's name: "team" of "Night team"; empty for one word."""
    words = name.casefold().split()
    return words[-1] if len(words) > 1 else ""


def is_called(entity: Entity, first: str) -> bool:
    """Whether an entity is a person of a first name, or may be one as it has no other name."""
    form = read(first, PERSON)
    names = [read(name, PERSON) for name in (entity.name, *entity.aliases)]
    if entity.type in UNKNOWN_TYPES:
        return all(form.same(name) for name in names)
    return entity.type == PERSON and any(form.fits(name) for name in names)
